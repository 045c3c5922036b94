import { Button, Select } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useAllLists } from '../api/use-all-lists.ts'
import { useFormDraft } from '../components/use-form-draft.ts'
import { plural } from '../lib/plural.ts'
import type { CsvFile } from './csv-file.ts'
import { CsvProgress } from './csv-progress.tsx'
import { FIELDS, type Field, guessMapping, type MappedRow, type Mapping, mapRows } from './csv-tasks.ts'
import styles from './data.module.css'

const NOT_IMPORTED = 'none'
const OPTIONS = [
  { value: NOT_IMPORTED, label: 'Not imported' },
  ...Object.entries(FIELDS).map(([value, label]) => ({ value, label })),
]

const SHOWN_ROWS = 5
const SHOWN_ERRORS = 50

/** Kept for files with the same columns. */
interface Choices {
  /** Null for columns that are not imported. */
  mapping: (Field | null)[]
  listId: string | null
}

/** What each column becomes, the first rows, and the rows with errors. */
export function CsvPreview({ file, onClose }: { file: CsvFile; onClose(): void }) {
  const {
    values,
    change: choose,
    discard,
  } = useFormDraft<Choices>(`csv:${JSON.stringify(file.columns)}`, {
    mapping: guessMapping(file.columns).map((field) => field ?? null),
    listId: null,
  })
  const { listId } = values
  const mappingText = JSON.stringify(values.mapping)
  const mapping = useMemo<Mapping>(
    () => (JSON.parse(mappingText) as Choices['mapping']).map((field) => field ?? undefined),
    [mappingText],
  )
  const [isImporting, setImporting] = useState(false)
  const rows = useMemo(() => mapRows(file, mapping), [file, mapping])
  const invalid = rows.filter(({ errors }) => errors.length > 0)
  const valid = rows.filter(({ errors }) => errors.length === 0)
  const hasTitle = mapping.includes('title')

  const change = (column: number, field: Field | undefined) =>
    choose({
      mapping: values.mapping.map((current, index) =>
        index === column ? (field ?? null) : current === field ? null : current,
      ),
    })

  if (isImporting && listId) {
    const close = () => {
      discard()
      onClose()
    }
    return <CsvProgress file={file} mapping={mapping} rows={valid} listId={listId} onClose={close} />
  }
  return (
    <>
      <p style={{ margin: 0 }}>
        <strong>{file.name}</strong>: {plural(file.rows.length, 'row')}
      </p>
      {file.warnings.map((warning) => (
        <p key={warning} className="quiet" style={{ margin: 0 }}>
          {warning}
        </p>
      ))}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable. */}
      <section className={styles.scroller} aria-label="Columns and first rows" tabIndex={0}>
        <table className={styles.table}>
          <thead>
            <tr>
              {file.columns.map((column, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never change, and may have equal names.
                <th key={index} scope="col">
                  <span className="breakable">{column}</span>
                  <Select
                    aria-label={`Import ${column} as`}
                    data={OPTIONS}
                    value={mapping[index] ?? NOT_IMPORTED}
                    allowDeselect={false}
                    onChange={(value) => change(index, value === NOT_IMPORTED ? undefined : (value as Field))}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {file.rows.slice(0, SHOWN_ROWS).map(({ number, cells }) => (
              <tr key={number}>
                {cells.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                  <td key={index} className={mapping[index] ? undefined : styles.left}>
                    {cell.slice(0, 120)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {hasTitle ? (
        <Errors invalid={invalid} />
      ) : (
        <p role="status">Choose the column that becomes the title.</p>
      )}
      <div className="row row-wrap" style={{ alignItems: 'flex-end' }}>
        <ListSelect value={listId} onChange={(listId) => choose({ listId })} />
        <Button disabled={!hasTitle || !listId || valid.length === 0} onClick={() => setImporting(true)}>
          Import {plural(valid.length, 'task')}
        </Button>
        <Button variant="default" onClick={onClose}>
          Choose another file
        </Button>
      </div>
      <p className="quiet small" style={{ margin: 0 }}>
        All tasks are imported as open. A row whose external ID a task of the project already has creates no
        second one.
      </p>
    </>
  )
}

function Errors({ invalid }: { invalid: MappedRow[] }) {
  if (invalid.length === 0) return <p role="status">All rows can be imported.</p>
  return (
    <div role="status">
      <p style={{ margin: 0 }}>{plural(invalid.length, 'row')} with errors will be skipped:</p>
      <ul className={styles.errors}>
        {invalid.slice(0, SHOWN_ERRORS).map(({ row, errors }) => (
          <li key={row.number} className="breakable">
            Row {row.number}: {errors.join('. ')}.
          </li>
        ))}
      </ul>
      {invalid.length > SHOWN_ERRORS && <p className="quiet">And {invalid.length - SHOWN_ERRORS} more.</p>}
    </div>
  )
}

function ListSelect({ value, onChange }: { value: string | null; onChange(listId: string | null): void }) {
  const groups = useAllLists().map(({ project, lists }) => ({
    group: project.name,
    items: lists.map((list) => ({
      value: list.id,
      label: `${project.name} / ${list.name}`,
    })),
  }))
  return (
    <Select
      label="Import into"
      placeholder="Choose a list"
      data={groups}
      value={value}
      searchable
      onChange={onChange}
      style={{ flex: '0 1 320px' }}
    />
  )
}
