import { type CsvCell, csvLine } from '../lib/csv.ts'
import type { TaskListItem } from '../schemas/task.ts'

/** Names of the lists and projects of tasks, by id. */
interface Names {
  lists: ReadonlyMap<string, string>
  projects: ReadonlyMap<string, string>
}

/** What separates the labels and assignees in a cell. */
const SEPARATOR = ', '

const COLUMNS: Record<string, (task: TaskListItem, names: Names) => CsvCell> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  status: ({ status }) => status,
  priority: ({ priority }) => priority,
  project: ({ projectId }, { projects }) => projects.get(projectId) ?? null,
  list: ({ listId }, { lists }) => lists.get(listId) ?? null,
  labels: ({ labels }) => labels.join(SEPARATOR),
  assignees: ({ assignees }) => assignees.join(SEPARATOR),
  externalId: ({ externalId }) => externalId,
  externalUrl: ({ externalUrl }) => externalUrl,
  source: ({ source }) => source,
  codehostIssueNumber: ({ codehostIssueNumber }) => codehostIssueNumber,
  codehostPrNumber: ({ codehostPrNumber }) => codehostPrNumber,
  closedReason: ({ closedReason }) => closedReason,
  author: ({ author }) => author?.name ?? null,
  createdBy: ({ createdBy }) => createdBy.name,
  commentCount: ({ commentCount }) => commentCount,
  reports: ({ reports }) => reports,
  mergedInto: ({ mergedInto }) => mergedInto,
  blockedBy: ({ blockedBy }) => blockedBy.join(SEPARATOR),
  isReady: ({ isReady }) => isReady,
  createdAt: ({ createdAt }) => createdAt,
  openedAt: ({ openedAt }) => openedAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  completedAt: ({ completedAt }) => completedAt,
  projectId: ({ projectId }) => projectId,
  listId: ({ listId }) => listId,
  version: ({ version }) => version,
}

const LONG_COLUMNS: typeof COLUMNS = {
  description: ({ description = null }) => description,
  notes: ({ notes = null }) => notes,
  metadata: ({ metadata = {} }) => JSON.stringify(metadata),
}

/** The lines of tasks as CSV. */
export function taskCsv({ isSummary }: { isSummary: boolean }) {
  const columns = isSummary ? COLUMNS : { ...COLUMNS, ...LONG_COLUMNS }
  const values = Object.values(columns)
  return {
    header: csvLine(Object.keys(columns)),
    line: (task: TaskListItem, names: Names) => csvLine(values.map((cellOf) => cellOf(task, names))),
  }
}
