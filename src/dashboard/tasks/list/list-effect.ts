import type { components, paths } from '../../api/schema.gen.ts'

type Activity = components['schemas']['Activity']
type Filters = NonNullable<paths['/api/tasks']['get']['parameters']['query']>

/**
 * What an activity may do to a list:
 * - `arrival`: a task that was created since may match.
 * - `change`: its task may match, or no longer; the task has a later time of its last update.
 * - `any`: any task may match, or no longer, and has the same time as before.
 */
export type ListEffect = 'none' | 'arrival' | 'change' | 'any'

const ARRIVALS = ['task.created', 'feedback.received', 'sync.finished']

const TASK_CHANGES = [
  'task.updated',
  'task.completed',
  'task.reopened',
  'task.restored',
  'task.claimed',
  'task.claim_released',
  'task.claim_expired',
  'task.merged',
  'task.unmerged',
  'task.woken',
]

const ARCHIVALS = ['project.archived', 'project.unarchived']

/** The effect of an activity on the tasks that a list has. What is deleted leaves every list by itself. */
export function listEffect(
  { type, actor }: Pick<Activity, 'type'> & Partial<Pick<Activity, 'actor'>>,
  filters: Filters,
): ListEffect {
  const { isReady, triaged, projectId, listId, includeArchived, sort } = filters
  const isEverywhere = projectId === undefined && listId === undefined
  // Whether a task is ready also follows from the tasks that block it.
  if (isReady !== undefined && [...TASK_CHANGES, ...ARCHIVALS, 'task.deleted'].includes(type)) return 'any'
  // Whoever comments here has decided about the task.
  if (type === 'comment.created') return triaged === undefined || actor?.type === 'codehost' ? 'none' : 'any'
  if (ARCHIVALS.includes(type)) return isEverywhere && !includeArchived ? 'any' : 'none'
  if (type.startsWith('task.report_')) return sort === '-reports' ? 'any' : 'none'
  if (type === 'stream.burst') return 'any'
  // Its tasks moved, without an activity of each.
  if (type === 'list.deleted') return listId === undefined ? 'none' : 'any'
  if (ARRIVALS.includes(type)) return 'arrival'
  return TASK_CHANGES.includes(type) ? 'change' : 'none'
}

/** What to ask the service about a list. */
export interface ListCheck {
  /** For tasks created since. */
  arrivals: boolean
  /** For all that it has loaded. */
  all: boolean
  /** For these, which changed since a time. */
  changedIds: string[]
  changedSince: number
}

export const NO_CHECK: ListCheck = {
  arrivals: false,
  all: false,
  changedIds: [],
  changedSince: Number.POSITIVE_INFINITY,
}

export const mergeChecks = (one: ListCheck, other: ListCheck): ListCheck => ({
  arrivals: one.arrivals || other.arrivals,
  all: one.all || other.all,
  changedIds: [...new Set([...one.changedIds, ...other.changedIds])],
  changedSince: Math.min(one.changedSince, other.changedSince),
})
