import { decideReported } from '../../domain/codehost/push-change.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import { OUTDATED, settledAs } from './settling.ts'

/** A state of an issue, a pull request, or a comment, as a delivery reports it. */
interface Reported<Key, State> {
  id: string
  key: Key
  state: State
}

/** What only the code host knows: one of the reported states, and the deliveries that wait. */
interface Unclear<State> {
  state: State
  ids: string[]
}

interface Stored {
  hostUpdatedAt: Date | null
  sourceState?: 'present' | 'transferred' | 'deleted'
}

interface Reporting<Key, State, Known, Decision> {
  now: Date
  known: Map<Key, Known>
  /** Those whose deletion was reported. Of what was never stored, the delivery of its deletion may have come first. */
  gone: Set<Key>
  taskIdOf(known: Known): string
  /** Returns a decision for each state. */
  write(states: State[]): Promise<{ key: Key; decision: Decision }[]>
  settlementOf(id: string, decision: Decision): Settlement
}

/**
 * Writes the newest state of each issue, pull request, or comment of which deliveries report states.
 * @returns how deliveries end, and those that wait until the code host is read
 */
export async function applyReported<
  Key,
  State extends { updatedAt: string | null },
  Known extends Stored,
  Decision,
>(
  reported: Reported<Key, State>[],
  { now, known, gone, taskIdOf, write, settlementOf }: Reporting<Key, State, Known, Decision>,
): Promise<{ settled: Settlement[]; unclear: Unclear<State>[] }> {
  const settled: Settlement[] = []
  const unclear: Unclear<State>[] = []
  const applied: State[] = []
  const byKey = Map.groupBy(reported, ({ key }) => key)
  for (const [key, deliveries] of byKey) {
    const ids = deliveries.map(({ id }) => id)
    const before = known.get(key)
    const states = deliveries.map(({ state }) => state)
    const decided = gone.has(key)
      ? ({ verdict: 'outdated' } as const)
      : decideReported(states, { known: before, now })
    if (decided.verdict === 'refetch') unclear.push({ state: decided.newest, ids })
    else if (decided.verdict === 'apply') applied.push(decided.newest)
    else settled.push(...settledAs(ids, { ...OUTDATED, taskId: before && taskIdOf(before) }))
  }
  for (const { key, decision } of await write(applied))
    settled.push(...(byKey.get(key) ?? []).map(({ id }) => settlementOf(id, decision)))
  return { settled, unclear }
}
