import type { CsvFile, CsvRow } from './csv-file.ts'

/** The members of a new task that a column can become. */
export interface NewTask {
  title: string
  description?: string
  priority?: 'low' | 'medium' | 'high'
  labels?: string[]
  assignees?: string[]
  externalId?: string
  externalUrl?: string
}

/** What a column can become. */
export const FIELDS = {
  title: 'Title',
  description: 'Description',
  priority: 'Priority',
  labels: 'Labels',
  assignees: 'Assignees',
  externalId: 'External ID',
  externalUrl: 'External URL',
} satisfies Partial<Record<keyof NewTask, string>>

export type Field = keyof typeof FIELDS

/** For each column of the file what it becomes; undefined is omitted. */
export type Mapping = (Field | undefined)[]

/** A row as a task, or why it cannot be one. */
export interface MappedRow {
  row: CsvRow
  task: NewTask
  errors: string[]
}

/** Names of columns in exports of this and other products, in lower case and without spaces. */
const NAMES: Record<Field, string[]> = {
  title: ['title', 'summary', 'subject', 'name', 'task', 'taskname', 'issue'],
  description: ['description', 'body', 'details', 'content'],
  priority: ['priority'],
  labels: ['labels', 'label', 'tags', 'tag'],
  assignees: ['assignees', 'assignee', 'assignedto', 'owner'],
  externalId: ['externalid', 'issuekey', 'key', 'id', 'taskid', 'issueid'],
  externalUrl: ['externalurl', 'url', 'link', 'permalink'],
}

/** Maps columns by their names: each field once, by the most specific name. */
export function guessMapping(columns: string[]): Mapping {
  const names = columns.map((column) => column.toLowerCase().replace(/[\s_-]/g, ''))
  const mapping: Mapping = columns.map(() => undefined)
  for (const [field, candidates] of Object.entries(NAMES) as [Field, string[]][]) {
    const name = candidates.find((candidate) => names.includes(candidate))
    if (name !== undefined) mapping[names.indexOf(name)] = field
  }
  return mapping
}

/** The rows as tasks. An external ID that an earlier row has is an error: the rows would be one task. */
export function mapRows({ rows }: Pick<CsvFile, 'rows'>, mapping: Mapping): MappedRow[] {
  const seen = new Map<string, number>()
  return rows.map((row) => {
    const { task, errors } = taskOf(row, mapping)
    const { externalId } = task
    const earlier = externalId === undefined ? undefined : seen.get(externalId)
    if (earlier !== undefined) errors.push(`External ID is the same as in row ${earlier}`)
    else if (externalId !== undefined) seen.set(externalId, row.number)
    return { row, task, errors }
  })
}

function taskOf({ cells, error }: CsvRow, mapping: Mapping): { task: NewTask; errors: string[] } {
  const values = Object.fromEntries(
    mapping.flatMap((field, index) => (field ? [[field, cells[index] ?? '']] : [])),
  ) as Partial<Record<Field, string>>
  const text = (field: Field) => values[field]?.trim() || undefined
  const priority = text('priority')?.toLowerCase()
  const task: NewTask = { title: text('title') ?? '' }
  if (values.description?.trim()) task.description = values.description
  if (priority && isPriority(priority)) task.priority = priority
  for (const field of ['labels', 'assignees'] as const) {
    const names = namesIn(values[field])
    if (names.length > 0) task[field] = names
  }
  for (const field of ['externalId', 'externalUrl'] as const) {
    const value = text(field)
    if (value !== undefined) task[field] = value
  }
  const errors = [
    ...(error ? [`The row ${error}`] : []),
    ...(priority && !isPriority(priority)
      ? [`Priority must be low, medium or high, not ${cut(priority)}`]
      : []),
    ...errorsOf(task),
  ]
  return { task, errors }
}

/** As the API checks them; what else it refuses is in the result. */
function errorsOf({
  title,
  description,
  labels = [],
  assignees = [],
  externalId,
  externalUrl,
}: NewTask): string[] {
  return [
    ...(title === '' ? ['Title is required'] : tooLong('Title', { text: title, max: 500 })),
    ...tooLong('Description', { text: description, max: 65_536 }),
    ...tooMany('Labels', labels),
    ...tooMany('Assignees', assignees),
    ...tooLong('External ID', { text: externalId, max: 255 }),
    ...tooLong('External URL', { text: externalUrl, max: 2_048 }),
    ...(externalUrl !== undefined && !isWebAddress(externalUrl)
      ? [`External URL must be an http or https URL, not ${cut(externalUrl)}`]
      : []),
  ]
}

const tooLong = (name: string, { text, max }: { text: string | undefined; max: number }) =>
  text !== undefined && text.length > max && [...text].length > max
    ? [`${name} must have at most ${max.toLocaleString()} characters`]
    : []

const tooMany = (name: string, names: string[]) => [
  ...(names.length > 20 ? [`${name}: at most 20`] : []),
  ...names.flatMap((one) => tooLong(`${name}: each`, { text: one, max: 100 })).slice(0, 1),
]

const isPriority = (text: string): text is NonNullable<NewTask['priority']> =>
  ['low', 'medium', 'high'].includes(text)

const isWebAddress = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !/\s/.test(text)

const namesIn = (cell = '') => [
  ...new Set(
    cell
      .split(/[,;\n]/)
      .map((name) => name.trim())
      .filter(Boolean),
  ),
]

const cut = (text: string) => (text.length > 40 ? `“${text.slice(0, 40)}…”` : `“${text}”`)
