import { isDeepStrictEqual } from 'node:util'
import { descriptionReadOnly, managedByCodehost } from '../errors/index.ts'
import { distinctIgnoringCase } from '../lib/distinct-ignoring-case.ts'
import type { Destination } from '../repositories/lists.ts'
import type { TaskRow, TaskUpdate } from '../repositories/tasks.ts'
import type { ActorType, TaskChange, TaskSource } from '../schemas/task.ts'
import { priorityOf, rankOf } from './priority.ts'

/** The columns to write and the activity of a change. Undefined when nothing changes. */
export interface ChangeOutcome {
  update: TaskUpdate
  entries: { type: 'task.updated' | 'task.completed' | 'task.reopened'; metadata: Record<string, unknown> }[]
}

/**
 * Decides a change of a task.
 * @throws managed_by_codehost or description_read_only for a field that the task's source owns.
 */
export function decideChange(
  task: TaskRow,
  change: TaskChange,
  moveTo: Destination | undefined,
  actor: ActorType,
  now: Date,
): ChangeOutcome | undefined {
  const changed = changedColumns(task, change, moveTo)
  const names = Object.keys(changed) as (keyof typeof changed)[]
  if (names.length === 0) return undefined
  refuseForeignFields(task, names, actor)

  const update: TaskUpdate = { ...changed, updatedAt: now, version: task.version + 1 }
  const entries: ChangeOutcome['entries'] = []
  if (changed.status === 'done') update.completedAt = now
  else if (changed.status) update.completedAt = null

  const isCompletion = changed.status === 'done'
  const isReopening = changed.status !== undefined && task.status === 'done'
  const logged = names.filter((name) => !(name === 'status' && (isCompletion || isReopening)))
  if (logged.length > 0) {
    entries.push({
      type: 'task.updated',
      metadata: {
        changes: Object.fromEntries(logged.map((name) => [name, difference(name, task, changed)])),
      },
    })
  }
  if (isCompletion) entries.push({ type: 'task.completed', metadata: { from: task.status } })
  if (isReopening) entries.push({ type: 'task.reopened', metadata: { to: changed.status } })
  return { update, entries }
}

export const isDescriptionReadOnly = (source: TaskSource) =>
  source === 'api' || source === 'codehost' || source === 'analytics'

function changedColumns(task: TaskRow, change: TaskChange, moveTo: Destination | undefined) {
  const { priority, labels, assignees, listId: _, ...same } = change
  const target = {
    ...same,
    ...(labels && { labels: distinctIgnoringCase(labels) }),
    ...(assignees && { assignees: distinctIgnoringCase(assignees) }),
    ...(priority && { priority: rankOf(priority) }),
    ...(moveTo && { listId: moveTo.listId, projectId: moveTo.projectId }),
  }
  return Object.fromEntries(
    Object.entries(target).filter(([name, value]) => !isDeepStrictEqual(value, task[name as keyof TaskRow])),
  ) as Partial<typeof target>
}

const CODEHOST_FIELDS = ['title', 'labels', 'assignees', 'externalUrl', 'projectId']

function refuseForeignFields(task: TaskRow, names: string[], actor: ActorType) {
  if (task.source === 'codehost') {
    const foreign = names.filter((name) => CODEHOST_FIELDS.includes(name))
    if (foreign.length > 0) throw managedByCodehost(foreign)
  }
  if (!names.includes('description')) return
  // An API key may change the description of a task created over the API; for all others it is read-only.
  const mayChange = !isDescriptionReadOnly(task.source) || (task.source === 'api' && actor === 'key')
  if (!mayChange) throw descriptionReadOnly(task.source)
}

/** Long texts are only logged as changed: the activity log does not store a second copy. */
const LOGGED_AS_CHANGED = ['description', 'notes', 'metadata']

function difference(name: string, task: TaskRow, changed: Record<string, unknown>): unknown {
  if (LOGGED_AS_CHANGED.includes(name)) return 'changed'
  const loggedValue =
    name === 'priority' ? (rank: unknown) => priorityOf(rank as number) : (value: unknown) => value
  return { from: loggedValue(task[name as keyof TaskRow]), to: loggedValue(changed[name]) }
}
