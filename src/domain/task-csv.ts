import { type CsvCell, csvLine } from '../lib/csv.ts'
import type { TaskListItem } from '../schemas/task.ts'
import { isLong, SHOWN_FIELDS } from './task-fields.ts'

/** Names of the lists and projects of tasks, by id. */
interface Names {
  lists: ReadonlyMap<string, string>
  projects: ReadonlyMap<string, string>
}

/** What separates the labels and assignees in a cell. */
const SEPARATOR = ', '

/** Columns that are no field, or in which a field is written differently. */
const CONVERTED: Record<string, (task: TaskListItem, names: Names) => CsvCell> = {
  project: ({ projectId }, { projects }) => projects.get(projectId) ?? null,
  list: ({ listId }, { lists }) => lists.get(listId) ?? null,
  author: ({ author }) => author?.name ?? null,
  createdBy: ({ createdBy }) => createdBy.name,
  askedAt: ({ question }) => question?.askedAt ?? null,
  metadata: ({ metadata = {} }) => JSON.stringify(metadata),
}

/** The order of the first columns. Other fields follow. */
const FIRST = [
  'id',
  'title',
  'status',
  'priority',
  'project',
  'list',
  'labels',
  'assignees',
  'externalId',
  'externalUrl',
  'source',
  'codehostIssueNumber',
  'codehostPrNumber',
  'closedReason',
  'author',
  'createdBy',
  'commentCount',
  'reports',
  'mergedInto',
  'blockedBy',
  'isReady',
  'triaged',
  'snoozedUntil',
  'askedAt',
  'createdAt',
  'openedAt',
  'updatedAt',
  'completedAt',
  'projectId',
  'listId',
  'version',
]
/** What nobody reads in a table. */
const OMITTED = ['sourceId', 'sourceState', 'writeBack', 'question', 'isDraft', 'noteKey']

const OTHERS = SHOWN_FIELDS.filter((name) => ![...FIRST, ...OMITTED].includes(name))
const BRIEF = [...FIRST, ...OTHERS.filter((name) => !isLong(name))]
const ALL = [...BRIEF, ...OTHERS.filter(isLong)]

/** Cast: the fields that aren't converted are texts, numbers, booleans, and lists of texts. */
function cellOf(name: string, { task, names }: { task: TaskListItem; names: Names }): CsvCell {
  const convert = CONVERTED[name]
  if (convert) return convert(task, names)
  const value = task[name as keyof TaskListItem] ?? null
  return Array.isArray(value) ? value.join(SEPARATOR) : (value as CsvCell)
}

/** The lines of tasks as CSV. */
export function taskCsv({ isSummary }: { isSummary: boolean }) {
  const columns = isSummary ? BRIEF : ALL
  return {
    header: csvLine(columns),
    line: (task: TaskListItem, names: Names) => csvLine(columns.map((name) => cellOf(name, { task, names }))),
  }
}
