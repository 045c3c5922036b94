import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { overriddenBy } from '../claim.ts'
import { type ActorRef, newTask, originIn } from '../new-task.ts'
import type { CreationPlace, StoredTask } from '../task.ts'
import type { LONG_FIELDS } from '../task-fields.ts'
import type { CodehostItem } from './item.ts'
import { isChangedBack, stateFor, statusToWrite, type UnwrittenState } from './write-back.ts'

/** A task of the code host without its long texts; of the description only the hash. */
export type SyncedTask = Omit<StoredTask, (typeof LONG_FIELDS)[number]> & {
  descriptionHash: string | null
}

/** The decision for one item: an outcome, the row to write if any, and the activities to log. */
export interface ItemDecision {
  number: number
  kind: CodehostItem['kind']
  outcome: 'created' | 'closed' | 'reopened' | 'updated' | 'unchanged' | 'skipped'
  /** Why the item was skipped. */
  reason?: 'deleted_here'
  /** Whether what is stored may be newer: then it is kept, and it has to be read from the code host again. */
  isUncertain?: true
  row?: StoredTask
  /** Whether the item counted as gone before. */
  isBack?: true
  activities: {
    type: 'task.created' | 'task.updated' | 'task.completed' | 'task.reopened' | 'task.write_back_dropped'
    metadata: object
  }[]
  /** What becomes of the task's unwritten state: `settled` if the code host has it, `dropped` if it has changed its own. */
  write?: { taskId: string; end: 'settled' | 'dropped' }
}

interface FirstImport {
  id: string
  now: Date
  destination: CreationPlace
  actor: ActorRef
  repositoryId: number
  /** Whether it was there before the connection. */
  predatesConnection: boolean
}

/** Creates a task from an item seen for the first time. */
export function importItem(
  item: CodehostItem,
  { id, now, destination, actor, repositoryId, predatesConnection }: FirstImport,
): ItemDecision {
  const isDone = item.state === 'closed'
  const row: StoredTask = {
    ...newTask({ title: item.title }, { id, now, destination, actor, origin: originIn('codehost') }),
    ...codehostColumns(item),
    ...(item.priority && { priority: item.priority }),
    codehostRepositoryId: repositoryId,
    codehostNumber: item.number,
    status: isDone ? 'done' : 'open',
    openedAt: item.openedAt ?? now,
    completedAt: isDone ? (item.closedAt ?? now) : null,
  }
  if (predatesConnection) row.triaged = true
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
 * @param unwritten while the status is not written to the code host: it is kept until the code host changes its own
 * @param isStoredSince whether the task was changed since the item was requested: of two that are of one second, nobody
 * knows then which is newer
 */
export function updateFromItem(
  task: SyncedTask,
  { item, now, unwritten, isTriageOn, isStoredSince = false }: ItemUpdate,
): ItemDecision {
  const decision = isOlder(item, task)
    ? unchanged(item)
    : followItem(task, { item, now, unwritten, isTriageOn })
  if (isStoredSince && decision.row && isOfSameSecond(item, task)) {
    return { ...unchanged(item), isUncertain: true }
  }
  // A deleted task is updated without activity: it may be restored, and the code host does not report the change
  // again.
  if (!task.deletedAt) return decision
  const { row, write, isBack } = decision
  return { ...skipItem(item), ...(row && { row }), ...(write && { write }), ...(isBack && { isBack }) }
}

interface ItemUpdate {
  item: CodehostItem
  now: Date
  unwritten?: UnwrittenState | undefined
  /** Whether tasks that arrive in the project are to be triaged, and so those that the host reopens. */
  isTriageOn: boolean
  isStoredSince?: boolean
}

const isOfSameSecond = ({ updatedAt }: CodehostItem, { hostUpdatedAt }: SyncedTask) =>
  updatedAt !== null && Date.parse(updatedAt) === hostUpdatedAt?.getTime()

const isOlder = ({ updatedAt }: CodehostItem, { hostUpdatedAt }: SyncedTask) =>
  updatedAt !== null && hostUpdatedAt !== null && new Date(updatedAt) < hostUpdatedAt

const unchanged = ({ number, kind }: CodehostItem): ItemDecision => ({
  number,
  kind,
  outcome: 'unchanged',
  activities: [],
})

function followItem(
  task: SyncedTask,
  { item, now, unwritten, isTriageOn }: Pick<ItemUpdate, 'item' | 'now' | 'unwritten' | 'isTriageOn'>,
): ItemDecision {
  const { number, kind } = item
  const isClosed = item.state === 'closed'
  const isMerged = task.mergedInto !== null
  const before = statusToWrite(task)
  const isSame = item.state === task.codehostState
  /** Whether the code host has what was written there. */
  const isEcho = !isSame && unwritten?.sent === item.state
  const isBack = isSame && unwritten !== undefined && isChangedBack(item, unwritten)
  const isKept = unwritten !== undefined && (isEcho || (isSame && !isBack))
  const isReopening = !isKept && !isClosed && (isBack || task.codehostState === 'closed')
  const isClosing = !isKept && isClosed && (!isSame || before !== 'done')
  const status = isKept ? before : isClosed ? 'done' : isReopening && before === 'done' ? 'open' : before
  const write = unwritten && writeOf(task, { item, isKept })

  const { description, hostUpdatedAt, ...owned } = codehostColumns(item)
  const next = {
    ...owned,
    // A merged task stays done; it follows the host once it is unmerged.
    status: isMerged ? task.status : status,
    statusBeforeMerge: isMerged ? status : null,
    // Of a task that is done only here, the reason is from here, too.
    closedReason: status === 'done' ? (isClosed ? owned.closedReason : task.closedReason) : null,
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
    triaged: isTriageOn && isReopening && before === 'done' ? false : task.triaged,
    snoozedUntil: isClosing ? null : task.snoozedUntil,
    question: isClosing ? null : task.question,
    description,
    hostUpdatedAt: hostUpdatedAt ?? task.hostUpdatedAt,
    // Placeholders that an update does not write; the columns are not nullable.
    notes: null,
    metadata: {},
  }
  const shown = isMerged ? changed.filter((name) => !HOST_STATE.includes(name)) : changed
  if (shown.length === 0 && !isDescriptionNew) {
    const isNewer = changed.length > 0 || !isDeepStrictEqual(row.hostUpdatedAt, task.hostUpdatedAt)
    return { ...unchanged(item), ...(isNewer && { row }), ...(write && { write }) }
  }
  row.version = task.version + 1
  // A task of an earlier version gets what was not stored then: nobody has changed it.
  const isFilledIn =
    task.hostUpdatedAt === null && !isDescriptionNew && changed.every((name) => FACTS.includes(name))
  // What was written here has its activity already.
  const isOnlyEcho = isEcho && !isDescriptionNew && changed.every((name) => OF_STATE.includes(name))
  if (isFilledIn || isOnlyEcho) return { ...unchanged(item), row, ...(write && { write }) }
  row.updatedAt = now
  const outcome = isMerged ? 'updated' : isClosing ? 'closed' : isReopening ? 'reopened' : 'updated'
  const texts = isDescriptionNew ? { description: 'changed' } : {}
  const changes = {
    ...Object.fromEntries(
      shown
        .filter((name) => !(isEcho && OF_STATE.includes(name)))
        .flatMap((name) => difference(name, { task, next })),
    ),
    ...texts,
  }
  const activities = activitiesOf(task, { row, changes })
  if (write?.end === 'dropped') {
    activities.unshift({ type: 'task.write_back_dropped', metadata: { kind: 'state', state: item.state } })
  }
  const isReturned = task.sourceState !== 'present' && { isBack: true as const }
  return { number, kind, outcome, row, activities, ...isReturned, ...(write && { write }) }
}

function writeOf(
  task: SyncedTask,
  { item, isKept }: { item: CodehostItem; isKept: boolean },
): ItemDecision['write'] {
  if (item.state === stateFor(task)) return { taskId: task.id, end: 'settled' }
  return isKept ? undefined : { taskId: task.id, end: 'dropped' }
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
      const overridden = overriddenBy({ type: 'codehost', id: null }, task)
      const metadata = { from: task.status, completedAt: completedAt?.toISOString(), ...overridden }
      activities.push({ type: 'task.completed', metadata })
    } else activities.push({ type: 'task.reopened', metadata: { to: status } })
  }
  return activities
}

/** What changes with the state of an item. */
const OF_STATE: readonly string[] = [
  'codehostState',
  'closedReason',
  'completedAt',
] satisfies readonly (keyof StoredTask)[]

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

/** The status has an activity of its own; the host's state and facts are not logged, except a draft that is ready. */
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
