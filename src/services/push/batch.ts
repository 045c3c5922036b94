import type { CodehostItem } from '../../domain/codehost/item.ts'
import { changeOf, type PushChange } from '../../domain/codehost/push-change.ts'
import type { ItemDecision } from '../../domain/codehost/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { PendingRow, Settlement } from '../../repositories/deliveries/pushed.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { markGone, writeItems } from '../sync/items.ts'
import { applyReported } from './apply-reported.ts'
import { applyComments } from './comment-batch.ts'

/** What only the code host knows, and the deliveries that wait for it. */
export type Refetch = { ids: string[] } & (
  | { about: 'item'; number: number }
  | { about: 'comment'; externalId: string; number: number }
  | { about: 'name' }
)

interface Batch {
  clock: Clock
  /** Locked. */
  connection: ConnectionRow
  rows: PendingRow[]
}

interface ReportedItems extends Pick<Batch, 'clock' | 'connection'> {
  items: { id: string; item: CodehostItem }[]
}

/** Applies deliveries as far as possible without the code host; the others wait for what is returned to be refetched. */
export async function applyBatch(
  repos: BoundRepositories,
  { clock, connection, rows }: Batch,
): Promise<{ settled: Settlement[]; refetches: Refetch[] }> {
  const changes = rows.map((row) => ({ id: row.id, change: changeIn(row, connection) }))
  const settled: Settlement[] = []
  const refetches: Refetch[] = []

  const renames = changes.flatMap(({ id, change }) => (change.kind === 'renamed' ? [id] : []))
  if (renames.length > 0) refetches.push({ about: 'name', ids: renames })
  for (const { id, change } of changes) {
    if (change.kind === 'none') settled.push({ id, outcome: 'updated', reason: null })
    if (change.kind === 'ignored') settled.push({ id, outcome: 'ignored', reason: change.reason })
    if (change.kind === 'invalid') settled.push({ id, outcome: 'failed', reason: 'invalid_payload' })
    if (change.kind !== 'gone') continue
    const task = await markGone(repos, { clock, connection, item: change })
    settled.push({ id, outcome: 'updated', reason: task ? null : 'unchanged', taskId: task?.id })
  }

  const items = changes.flatMap(({ id, change }) => (change.kind === 'item' ? { id, item: change.item } : []))
  const outcome = await applyItems(repos, { clock, connection, items })
  settled.push(...outcome.settled)
  refetches.push(
    ...outcome.unclear.map(({ state: { number }, ids }) => ({ about: 'item' as const, number, ids })),
  )
  // After their issues.
  const comments = changes.flatMap(({ id, change }) => (change.kind === 'comment' ? { id, ...change } : []))
  if (comments.length > 0) {
    const outcome = await applyComments(repos, { clock, connection, reported: comments })
    settled.push(...outcome.settled)
    refetches.push(...outcome.refetches)
  }
  return { settled, refetches }
}

async function applyItems(repos: BoundRepositories, { clock, connection, items }: ReportedItems) {
  const { projectId, repositoryId } = connection
  const numbers = [...new Set(items.map(({ item }) => item.number))]
  const tasks = await repos.syncedTasks.listKnownForUpdate(projectId, { repositoryId, numbers })
  const known = new Map(tasks.map((task) => [task.codehostNumber, task]))
  const unknown = numbers.filter((number) => !known.has(number))
  const gone = await repos.pushedDeliveries.listGone(connection.id, unknown)
  return applyReported(
    items.map(({ id, item }) => ({ id, state: item })),
    {
      now: clock.now(),
      keyOf: ({ number }) => number,
      known,
      gone: new Set(gone),
      taskIdOf: ({ id }) => id,
      write: (items) => writeItems(repos, { clock, connection, items }),
      settlementOf: (id, decision: ItemDecision) =>
        settlementOf(id, { decision, taskId: decision.row?.id ?? known.get(decision.number)?.id }),
    },
  )
}

export const settlementOf = (
  id: string,
  { decision, taskId }: { decision: ItemDecision; taskId: string | undefined },
): Settlement => ({
  id,
  outcome: decision.outcome === 'created' ? 'accepted' : 'updated',
  reason: decision.reason ?? (decision.outcome === 'unchanged' ? 'unchanged' : null),
  taskId,
})

/** Whether it reports that something was deleted or transferred. */
export function isDeletion(row: PendingRow, connection: ConnectionRow): boolean {
  const change = changeIn(row, connection)
  return change.kind === 'gone' || (change.kind === 'comment' && change.isDeleted)
}

function changeIn({ event, payload }: PendingRow, connection: ConnectionRow): PushChange {
  return payload === null ? { kind: 'invalid' } : changeOf({ event: event ?? '', payload }, connection)
}
