import { type ReactNode, useId } from 'react'
import styles from './pictures.module.css'

interface PictureTable {
  head: string[]
  /** How many columns paper has room for, if not for all. */
  columnsOnPaper?: number
  /** The first cell of a row names it. */
  rows: { key: string; cells: (string | number)[] }[]
}

interface PictureProps {
  title: string
  /** One sentence of what it shows. */
  description: string
  legend?: ReactNode
  /** The same figures, for screen readers, and for all who want them exactly. */
  table: PictureTable
  children: ReactNode
}

/** A picture with its title, what its fills mean, and its figures as a table. */
export function Picture({ title, description, legend, table, children }: PictureProps) {
  const titleId = useId()
  const { columnsOnPaper = table.head.length } = table
  const classOf = (column: number) => (column < columnsOnPaper ? undefined : styles.onScreen)
  return (
    <figure className={styles.picture} aria-labelledby={titleId}>
      <figcaption>
        <h2 id={titleId}>{title}</h2>
        <p className="quiet small">{description}</p>
        {legend}
      </figcaption>
      {children}
      <details className={styles.figures}>
        <summary>Figures as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard. */}
        <section className={styles.scroll} aria-label={`Figures: ${title}`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {table.head.map((name, column) => (
                  <th key={name} scope="col" className={classOf(column)}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map(({ key, cells: [name, ...values] }) => (
                <tr key={key}>
                  <th scope="row">{name}</th>
                  {values.map((value, index) => (
                    <td key={table.head[index + 1]} className={classOf(index + 1)}>
                      {typeof value === 'number' ? value.toLocaleString() : value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
