import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import { type BoundRepositories, everywhere, inProject, type Repositories } from '../../repositories/index.ts'
import type { PipeName } from '../../repositories/pipes/index.ts'
import type { LogFailure } from '../codehost/failures.ts'
import type { PipeRecorder, Recorder } from '../recorder.ts'

export type Settling = ReturnType<typeof settlingOf>

export interface SettlingDeps {
  repos: Repositories
  clock: Clock
  metrics: Pick<Recorder, 'pushed'>
  pipes: PipeRecorder
  logFailure?: LogFailure | undefined
}

/** For about seven hours. Polling brings what is lost then. */
const RETRIES = { firstMs: 5_000, maxMs: 3_600_000, maxAttempts: 16 }

/** How deliveries end, or wait, with the metrics of it. */
export function settlingOf({ repos, metrics, pipes, logFailure }: SettlingDeps) {
  const { pushedDeliveries } = repos.within(everywhere)

  return { fail, postpone, whileConnected, databaseNow: pushedDeliveries.now }

  async function fail(
    connection: Pick<ConnectionRow, 'id' | 'projectId'>,
    { ids, reason }: { ids: string[]; reason: string },
  ): Promise<void> {
    const settled = settledAs(ids, { outcome: 'failed', reason })
    const ended = await pushedDeliveries.settle(connection.id, settled)
    for (const outcome of ended) report(connection, { outcome, reason })
  }

  function report(
    { id: connectionId, projectId }: Pick<ConnectionRow, 'id' | 'projectId'>,
    { outcome, reason }: Ended,
  ): void {
    metrics.pushed(measuredAs(outcome))
    if (outcome !== 'failed') {
      pipes.succeeded(pushPipe(connectionId))
      return
    }
    const code = reason ?? 'internal_error'
    pipes.failed(pushPipe(connectionId), { code, message: NOT_APPLIED })
    logFailure?.({ code, projectId, connectionId }, 'delivery of the code host failed')
  }

  /** Tries again later, each time after twice as long, until it has failed too often. */
  async function postpone(
    connection: Pick<ConnectionRow, 'id' | 'projectId'>,
    again: { ids: string[]; reason: string | null; afterMs?: number; firstMs?: number },
  ): Promise<void> {
    const ended = await pushedDeliveries.retryLater(connection.id, { ...RETRIES, ...again })
    for (const outcome of ended) report(connection, { outcome, reason: again.reason })
    if (ended.length > 0 || again.reason === null) return
    pipes.failed(pushPipe(connection.id), { code: again.reason, message: NOT_APPLIED })
  }

  /** Locks project and connection, in this order as everywhere. Does nothing if the connection no longer exists. */
  async function whileConnected<T>(
    { id, projectId }: Pick<ConnectionRow, 'id' | 'projectId'>,
    work: (
      repos: BoundRepositories,
      locked: { connection: ConnectionRow; isArchived: boolean },
    ) => Promise<T>,
  ): Promise<T | undefined> {
    const done = await repos.within(inProject(projectId)).transaction(async (repos) => {
      const project = await repos.projects.findForUpdate(projectId)
      const connection = await repos.codehost.findForUpdate(projectId)
      if (connection?.id !== id) return undefined
      const ended: Ended[] = []
      const pushedDeliveries = recording(repos.pushedDeliveries, ended)
      const locked = { connection, isArchived: project?.archivedAt != null }
      return { result: await work({ ...repos, pushedDeliveries }, locked), ended }
    })
    // Only now: a transaction that fails has ended none.
    for (const each of done?.ended ?? []) report({ id, projectId }, each)
    return done?.result
  }
}

type Ended = Pick<Settlement, 'outcome' | 'reason'>

/** The deliveries of a transaction, with the outcome of each that it ends. */
const recording = (
  deliveries: BoundRepositories['pushedDeliveries'],
  ended: Ended[],
): BoundRepositories['pushedDeliveries'] => ({
  ...deliveries,
  async settle(connectionId, settled) {
    const outcomes = await deliveries.settle(connectionId, settled)
    const reasons = new Map(settled.map(({ outcome, reason }) => [outcome, reason]))
    ended.push(...outcomes.map((outcome) => ({ outcome, reason: reasons.get(outcome) ?? null })))
    return outcomes
  },
})

export const pushPipe = (connectionId: string): PipeName => ({ kind: 'push', id: connectionId })

const NOT_APPLIED = 'A delivery of the code host was received, but could not be applied.'

/** What metrics call an outcome. */
export function measuredAs(outcome: Settlement['outcome']) {
  if (outcome === 'failed') return outcome
  return outcome === 'ignored' ? 'dropped' : 'applied'
}

/** Something newer is stored. */
export const OUTDATED = { outcome: 'updated', reason: 'outdated' } as const

export const settledAs = (ids: string[], outcome: Omit<Settlement, 'id'>): Settlement[] =>
  ids.map((id) => ({ id, ...outcome }))
