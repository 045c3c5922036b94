import styles from './pictures.module.css'

/** How many parts can be told apart. */
const FILLS = 6

/**
 * Parts of a picture differ in lightness and in hatching, so that they can be told apart without colour. The hatchings
 * are defined once on a page; see `FillDefinitions`.
 */
export const fillOf = (index: number) =>
  index % 2 === 0 ? `var(--part-${index % FILLS})` : `url(#part-${index % FILLS})`

export const FillDefinitions = () => (
  <svg className={styles.definitions} aria-hidden="true">
    <defs>
      {Array.from({ length: FILLS / 2 }, (_, index) => index * 2 + 1).map((part) => (
        <pattern
          key={part}
          id={`part-${part}`}
          width="5"
          height="5"
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${part === 3 ? -45 : 45})`}
        >
          <rect width="5" height="5" className={styles.hatchGround} />
          <rect width="3" height="5" fill={`var(--part-${part})`} />
        </pattern>
      ))}
    </defs>
  </svg>
)

interface LegendProps {
  /** In the order of the fills. */
  names: string[]
}

/** What the fills mean, in the order in which the parts are stacked. */
export const Legend = ({ names }: LegendProps) => (
  <ul className={styles.legend}>
    {names.map((name, index) => (
      <li key={name}>
        <svg width="12" height="12" aria-hidden="true">
          <rect width="12" height="12" rx="2" fill={fillOf(index)} className={styles.part} />
        </svg>
        {name}
      </li>
    ))}
  </ul>
)
