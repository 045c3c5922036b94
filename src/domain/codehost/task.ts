import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type ActorRef, newTask } from '../new-task.ts'
import type { Destination, StoredTask } from '../task.ts'
import type { CodehostItem } from './item.ts'

/** A task of the code host without its long texts; of the description only the hash. */
export type SyncedTask = Omit<StoredTask, 'description' | 'notes' | 'metadata'> & {
  descriptionHash: string | null
}

/** The decision for one item: an outcome, the row to write if any, and the activities to log. */
export interface ItemDecision {
  number: number
  kind: CodehostItem['kind']
  outcome: 'created' | 'closed' | 'reopened' | 'updated' | 'unchanged' | 'skipped'
  /** Why the item was skipped. */
  reason?: 'deleted_here'
  row?: StoredTask
  activities: {
    type: 'task.created' | 'task.updated' | 'task.completed' | 'task.reopened'
    metadata: object
  }[]
}

interface FirstImport {
  id: string
  now: Date
  destination: Destination
  actor: ActorRef
  repositoryId: number
}

/** Creates a task from an item seen for the first time. */
export function importItem(
  item: CodehostItem,
  { id, now, destination, actor, repositoryId }: FirstImport,
): ItemDecision {
  const isDone = item.state === 'closed'
  const row: StoredTask = {
    ...newTask({ title: item.title }, { id, now, destination, actor }),
    ...codehostColumns(item),
    ...(item.priority && { priority: item.priority }),
    codehostRepositoryId: repositoryId,
    codehostNumber: item.number,
    status: isDone ? 'done' : 'open',
    openedAt: item.openedAt ?? now,
    completedAt: isDone ? (item.closedAt ?? now) : null,
  }
  const { number, kind } = item
  return { number, kind, outcome: 'created', row, activities: [{ type: 'task.created', metadata: {} }] }
}

/** An item whose task was deleted here stays deleted. */
export const skipItem = ({ number, kind }: CodehostItem): ItemDecision => ({
  number,
  kind,
  outcome: 'skipped',
  reason: 'deleted_here',
  activities: [],
})

/**
 * Updates the task of a known item: columns owned by the code host are overwritten, all others kept. An item that is older
 * than the one last stored changes nothing.
 */
export function updateFromItem(
  task: SyncedTask,
  { item, now }: { item: CodehostItem; now: Date },
): ItemDecision {
  const decision = isOlder(item, task) ? unchanged(item) : followItem(task, { item, now })
  // A deleted task is updated without activity: it may be restored, and the code host does not report the change
  // again.
  return task.deletedAt ? { ...skipItem(item), ...(decision.row && { row: decision.row }) } : decision
}

const isOlder = ({ updatedAt }: CodehostItem, { hostUpdatedAt }: SyncedTask) =>
  updatedAt !== null && hostUpdatedAt !== null && new Date(updatedAt) < hostUpdatedAt

const unchanged = ({ number, kind }: CodehostItem): ItemDecision => ({
  number,
  kind,
  outcome: 'unchanged',
  activities: [],
})

function followItem(task: SyncedTask, { item, now }: { item: CodehostItem; now: Date }): ItemDecision {
  const { number, kind } = item
  const isClosed = item.state === 'closed'
  const isMerged = task.mergedInto !== null
  const before = (isMerged && task.statusBeforeMerge) || task.status
  const isReopening = !isClosed && task.codehostState === 'closed'
  const isClosing = isClosed && (task.codehostState !== 'closed' || before !== 'done')
  const status = isClosed ? 'done' : isReopening && before === 'done' ? 'open' : before

  const { description, hostUpdatedAt, ...owned } = codehostColumns(item)
  const next = {
    ...owned,
    // A merged task stays done; it follows the host once it is unmerged.
    status: isMerged ? task.status : status,
    statusBeforeMerge: isMerged ? status : null,
    openedAt: item.openedAt ?? task.openedAt,
    completedAt: isMerged || status === 'done' ? (item.closedAt ?? task.completedAt ?? now) : null,
  }
  const changed = (Object.keys(next) as (keyof typeof next)[]).filter(
    (name) => !isDeepStrictEqual(next[name], task[name]),
  )
  const isDescriptionNew = hashOf(description) !== task.descriptionHash
  const { descriptionHash, ...others } = task
  const row: StoredTask = {
    ...others,
    ...next,
    description,
    hostUpdatedAt: hostUpdatedAt ?? task.hostUpdatedAt,
    // Placeholders that an update does not write; the columns are not nullable.
    notes: null,
    metadata: {},
  }
  const shown = isMerged ? changed.filter((name) => !HOST_STATE.includes(name)) : changed
  if (shown.length === 0 && !isDescriptionNew) {
    const isNewer = changed.length > 0 || !isDeepStrictEqual(row.hostUpdatedAt, task.hostUpdatedAt)
    return { ...unchanged(item), ...(isNewer && { row }) }
  }
  row.version = task.version + 1
  // A task of an earlier version gets what was not stored then: nobody has changed it.
  const isFilledIn =
    task.hostUpdatedAt === null && !isDescriptionNew && changed.every((name) => FACTS.includes(name))
  if (isFilledIn) return { ...unchanged(item), row }
  row.updatedAt = now
  const outcome = isMerged ? 'updated' : isClosing ? 'closed' : isReopening ? 'reopened' : 'updated'
  const texts = isDescriptionNew ? { description: 'changed' } : {}
  const changes = {
    ...Object.fromEntries(shown.flatMap((name) => difference(name, { task, next }))),
    ...texts,
  }
  return { number, kind, outcome, row, activities: activitiesOf(task, { row, changes }) }
}

/** The columns owned by the code host. */
function codehostColumns(item: CodehostItem) {
  return {
    title: item.title,
    description: item.description,
    externalUrl: item.url,
    labels: item.labels,
    assignees: item.assignees,
    authorName: item.author?.name ?? null,
    authorUrl: item.author?.url ?? null,
    isDraft: item.isDraft,
    hostUpdatedAt: item.updatedAt === null ? null : new Date(item.updatedAt),
    codehostKind: item.kind,
    codehostState: item.state,
    closedReason: item.closedReason,
    // The item exists now, even if it was deleted or transferred before.
    sourceState: 'present' as const,
  }
}

function activitiesOf(
  task: SyncedTask,
  { row: { status, completedAt }, changes }: { row: StoredTask; changes: object },
): ItemDecision['activities'] {
  const activities: ItemDecision['activities'] = []
  if (Object.keys(changes).length > 0) activities.push({ type: 'task.updated', metadata: { changes } })
  if (status !== task.status) {
    if (status === 'done') {
      const metadata = { from: task.status, completedAt: completedAt?.toISOString() }
      activities.push({ type: 'task.completed', metadata })
    } else activities.push({ type: 'task.reopened', metadata: { to: status } })
  }
  return activities
}

/** Stored while a task is merged, but not shown: nothing of the task changes until it is unmerged. */
const HOST_STATE: readonly string[] = [
  'codehostState',
  'closedReason',
  'statusBeforeMerge',
] satisfies readonly (keyof StoredTask)[]

/** Facts about the item that earlier versions did not store. */
const FACTS: readonly string[] = [
  'openedAt',
  'completedAt',
  'authorName',
  'authorUrl',
  'isDraft',
] satisfies readonly (keyof StoredTask)[]

/** The status has an activity of its own; the host's state and the facts are not logged, except for a draft that is ready. */
const isLogged = (name: string, { isDraft }: SyncedTask) =>
  name === 'isDraft'
    ? isDraft !== null
    : !['status', 'codehostState', 'codehostKind', ...FACTS].includes(name)

function difference(
  name: string,
  { task, next }: { task: SyncedTask; next: Record<string, unknown> },
): [string, unknown][] {
  if (!isLogged(name, task)) return []
  return [[name, { from: task[name as keyof SyncedTask], to: next[name] }]]
}

/** The same hash as the database computes, so that long texts can be compared without reading them. */
export const hashOf = (text: string | null) => (text === null ? null : hash('sha256', text))
