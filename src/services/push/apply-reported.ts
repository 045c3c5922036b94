import { decideReported, type Known, type Reported } from '../../domain/codehost/push-change.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import { OUTDATED, settledAs } from './settling.ts'

/** What only the code host knows: one of the reported states, and the deliveries that wait. */
interface Unclear<State> {
  state: State
  ids: string[]
}

interface Reporting<Key, State, Stored, Decision> {
  now: Date
  /** What a state, or a decision about one, is of. */
  keyOf(of: State | Decision): Key
  known: Map<Key, Stored>
  /** Those whose deletion was reported. Of what was never stored, the delivery of its deletion may have come first. */
  gone: Set<Key>
  taskIdOf(known: Stored): string
  /** Returns a decision for each state. */
  write(states: State[]): Promise<Decision[]>
  settlementOf(id: string, decision: Decision): Settlement
}

/**
 * Writes the newest state of each issue, pull request, or comment of which deliveries report states.
 * @returns how deliveries end, and those that wait until the code host is read
 */
export async function applyReported<Key, State extends Reported, Stored extends Known, Decision>(
  reported: { id: string; state: State }[],
  { now, keyOf, known, gone, taskIdOf, write, settlementOf }: Reporting<Key, State, Stored, Decision>,
): Promise<{ settled: Settlement[]; unclear: Unclear<State>[] }> {
  const settled: Settlement[] = []
  const unclear: Unclear<State>[] = []
  const applied: State[] = []
  const byKey = Map.groupBy(reported, ({ state }) => keyOf(state))
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
  for (const decision of await write(applied))
    settled.push(...(byKey.get(keyOf(decision)) ?? []).map(({ id }) => settlementOf(id, decision)))
  return { settled, unclear }
}
