import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Destination } from '../repositories/lists.ts'
import type { KnownTask } from '../repositories/synced-tasks.ts'
import type { TaskRow } from '../repositories/tasks.ts'
import type { Entry } from './codehost-entry.ts'
import { type ActorRef, newTaskRow } from './new-task.ts'

/** What an entry comes to: one outcome each, the row to write where there is one, and what the record says. */
export interface EntryDecision {
  number: number
  kind: Entry['kind']
  outcome: 'created' | 'closed' | 'reopened' | 'updated' | 'unchanged' | 'skipped'
  /** Why it was skipped. */
  reason?: 'deleted_here'
  row?: TaskRow
  told: { type: 'task.created' | 'task.updated' | 'task.completed' | 'task.reopened'; metadata: object }[]
}

interface FirstImport {
  id: string
  at: Date
  where: Destination
  by: ActorRef
  repositoryId: number
}

/** An entry that was never here becomes a task. */
export function importEntry(entry: Entry, { id, at, where, by, repositoryId }: FirstImport): EntryDecision {
  const isDone = entry.state === 'closed'
  const row: TaskRow = {
    ...newTaskRow(id, at, { title: entry.title }, where, by),
    ...ownedBy(entry),
    ...(entry.priority && { priority: entry.priority }),
    codehostRepositoryId: repositoryId,
    codehostNumber: entry.number,
    status: isDone ? 'done' : 'open',
    completedAt: isDone ? at : null,
  }
  const { number, kind } = entry
  return { number, kind, outcome: 'created', row, told: [{ type: 'task.created', metadata: {} }] }
}

/** One that was deleted here stays deleted. */
export const skipEntry = ({ number, kind }: Entry): EntryDecision => ({
  number,
  kind,
  outcome: 'skipped',
  reason: 'deleted_here',
  told: [],
})

/** An entry that is here already: what belongs to the code host follows it, what people did here stays. */
export function updateFromEntry(task: KnownTask, entry: Entry, at: Date): EntryDecision {
  const decision = followEntry(task, entry, at)
  // Hidden, it follows in silence: it may be restored, and the code host will not tell of the change again.
  return task.deletedAt ? { ...skipEntry(entry), ...(decision.row && { row: decision.row }) } : decision
}

function followEntry(task: KnownTask, entry: Entry, at: Date): EntryDecision {
  const { number, kind } = entry
  const isClosed = entry.state === 'closed'
  const isReopening = !isClosed && task.codehostState === 'closed'
  const isClosing = isClosed && (task.codehostState !== 'closed' || task.status !== 'done')
  const status = isClosed ? 'done' : isReopening && task.status === 'done' ? 'open' : task.status

  const { description, ...owned } = ownedBy(entry)
  const wanted = { ...owned, status }
  const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
    (name) => !isDeepStrictEqual(wanted[name], task[name]),
  )
  const isDescriptionNew = hashOf(description) !== task.descriptionHash
  if (changed.length === 0 && !isDescriptionNew) return { number, kind, outcome: 'unchanged', told: [] }

  const { descriptionHash, ...kept } = task
  const row: TaskRow = {
    ...kept,
    ...wanted,
    description,
    // Not written on an update; the columns cannot be null.
    notes: null,
    metadata: {},
    completedAt: status === 'done' ? (task.completedAt ?? at) : null,
    updatedAt: at,
    version: task.version + 1,
  }
  const outcome = isClosing ? 'closed' : isReopening ? 'reopened' : 'updated'
  const texts = isDescriptionNew ? { description: 'changed' } : {}
  const changes = {
    ...Object.fromEntries(changed.flatMap((name) => difference(name, task, wanted))),
    ...texts,
  }
  return { number, kind, outcome, row, told: told(task, status, changes) }
}

/** The columns that belong to the code host. */
function ownedBy(entry: Entry) {
  return {
    title: entry.title,
    description: entry.description,
    externalUrl: entry.url,
    labels: entry.labels,
    assignees: entry.assignees,
    codehostKind: entry.kind,
    codehostState: entry.state,
    closedReason: entry.closedReason,
    // Whatever was said of it before: here it is.
    sourceState: 'present' as const,
  }
}

function told(task: KnownTask, status: TaskRow['status'], changes: object): EntryDecision['told'] {
  const entries: EntryDecision['told'] = []
  if (Object.keys(changes).length > 0) entries.push({ type: 'task.updated', metadata: { changes } })
  if (status !== task.status) {
    if (status === 'done') entries.push({ type: 'task.completed', metadata: { from: task.status } })
    else entries.push({ type: 'task.reopened', metadata: { to: status } })
  }
  return entries
}

/** What the record says of a column; the status has an entry of its own, the host's own state none. */
function difference(name: string, task: KnownTask, wanted: Record<string, unknown>): [string, unknown][] {
  if (['status', 'codehostState', 'codehostKind'].includes(name)) return []
  return [[name, { from: task[name as keyof KnownTask], to: wanted[name] }]]
}

/** As the database hashes it, so that long texts need not be read to be compared. */
export const hashOf = (text: string | null) => (text === null ? null : hash('sha256', text))
