import type { CodehostItem } from '../../domain/codehost/item.ts'
import { changeOf, decideReported, type PushChange } from '../../domain/codehost/push-change.ts'
import type { ItemDecision } from '../../domain/codehost/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { PendingRow, Settlement } from '../../repositories/deliveries/pushed.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { markGone, writeItems } from '../sync/items.ts'
import { applyComments } from './comment-batch.ts'
import { OUTDATED, settledAs } from './settling.ts'

/** What only the code host knows, and the deliveries that wait for it. */
export type Question = { ids: string[] } & (
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

/** Applies deliveries as far as possible without the code host; the others wait for the questions that are returned. */
export async function applyBatch(
  repos: BoundRepositories,
  { clock, connection, rows }: Batch,
): Promise<{ settled: Settlement[]; questions: Question[] }> {
  const changes = rows.map((row) => ({ id: row.id, change: changeIn(row, connection) }))
  const settled: Settlement[] = []
  const questions: Question[] = []

  const renames = changes.flatMap(({ id, change }) => (change.kind === 'renamed' ? [id] : []))
  if (renames.length > 0) questions.push({ about: 'name', ids: renames })
  for (const { id, change } of changes) {
    if (change.kind === 'none') settled.push({ id, outcome: 'updated', reason: null })
    if (change.kind === 'ignored') settled.push({ id, outcome: 'ignored', reason: change.reason })
    if (change.kind === 'invalid') settled.push({ id, outcome: 'failed', reason: 'invalid_payload' })
    if (change.kind !== 'gone') continue
    const task = await markGone(repos, { clock, connection, item: change })
    settled.push({ id, outcome: 'updated', reason: task ? null : 'unchanged', taskId: task?.id })
  }

  const { projectId, repositoryId } = connection
  const reported = changes.flatMap(({ id, change }) => (change.kind === 'item' ? [{ id, ...change }] : []))
  const byNumber = Map.groupBy(reported, ({ item }) => item.number)
  const numbers = [...byNumber.keys()]
  const tasks = await repos.syncedTasks.listKnownForUpdate(projectId, { repositoryId, numbers })
  const known = new Map(tasks.map((task) => [task.codehostNumber, task]))
  // Of an item that was never imported, the delivery of its deletion may have come first.
  const gone = new Set(
    await repos.pushedDeliveries.listGone(
      connection.id,
      numbers.filter((n) => !known.has(n)),
    ),
  )
  const applied: CodehostItem[] = []
  for (const [number, deliveries] of byNumber) {
    const ids = deliveries.map(({ id }) => id)
    const task = known.get(number)
    if (gone.has(number)) {
      settled.push(...settledAs(ids, OUTDATED))
      continue
    }
    const decision = decideReported(
      deliveries.map(({ item }) => item),
      { known: task, now: clock.now() },
    )
    if (decision.verdict === 'ask') {
      questions.push({ about: 'item', number, ids })
    } else if (decision.verdict === 'outdated') {
      settled.push(...settledAs(ids, { ...OUTDATED, taskId: task?.id }))
    } else applied.push(decision.newest)
  }
  const decisions = await writeItems(repos, { clock, connection, items: applied })
  for (const decision of decisions) {
    const taskId = decision.row?.id ?? known.get(decision.number)?.id
    for (const { id } of byNumber.get(decision.number) ?? [])
      settled.push(settlementOf(id, { decision, taskId }))
  }
  // After their issues.
  const comments = changes.flatMap(({ id, change }) => (change.kind === 'comment' ? { id, ...change } : []))
  if (comments.length > 0) {
    const outcome = await applyComments(repos, { clock, connection, reported: comments })
    settled.push(...outcome.settled)
    questions.push(...outcome.questions)
  }
  return { settled, questions }
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
