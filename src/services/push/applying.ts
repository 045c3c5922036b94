import type { CodeHost, HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { itemOf } from '../../domain/codehost/item.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { PendingRow, Settlement } from '../../repositories/codehost/deliveries.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { TokenVault } from '../codehost/token.ts'
import type { Metrics } from '../metrics/index.ts'
import { markGone, saveName, writeItems } from '../sync/items.ts'
import { applyBatch, type Question, settlementOf } from './batch.ts'

export interface ApplyingDeps {
  repos: Repositories
  clock: Clock
  host: Pick<CodeHost, 'readItem' | 'findRepository'>
  vault: Pick<TokenVault, 'accessOf'>
  metrics: Pick<Metrics, 'pushed'>
}

/** One transaction. Their payloads are in memory, several times. */
const BATCH = { maxItems: 50, maxBytes: 8 * 1024 * 1024 }
/** While the host is asked, no other instance asks the same; if this one is killed, another continues then. */
const ASKING_MS = 60_000
/** Of one round. */
const MAX_CONNECTIONS = 20
/** For about seven hours. Polling brings what is lost then. */
const RETRIES = { firstMs: 5_000, maxMs: 3_600_000, maxAttempts: 16 }
/** How often an item is read again because its task changed meanwhile. */
const MAX_READINGS = 5

/** Applies stored deliveries to tasks. Instances may do so at the same time: each batch locks its connection. */
export function deliveryApplier({ repos, clock, host, vault, metrics }: ApplyingDeps) {
  const { deliveries } = repos.within(everywhere)

  /** Applies one batch of each connection that has any. Returns whether more were due already. */
  return async function applyDue(signal: AbortSignal): Promise<boolean> {
    const due = await deliveries.listDueConnections(clock.now(), MAX_CONNECTIONS)
    let isMoreDue = due.length === MAX_CONNECTIONS
    const errors: unknown[] = []
    for (const connectionId of due) {
      if (signal.aborted) return false
      try {
        if (await deliveries.redacted(() => applyOne(connectionId, signal))) isMoreDue = true
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return isMoreDue
  }

  /** Returns whether there may be more than one batch. */
  async function applyOne(connectionId: string, signal: AbortSignal): Promise<boolean> {
    const connection = await deliveries.findConnection(connectionId)
    // Its deliveries are deleted with it.
    if (!connection) return false
    try {
      return await applyBatchOf(connection, { signal, maxItems: BATCH.maxItems })
    } catch (error) {
      // One of them may be the reason: alone, it delays no other.
      const [first] = await deliveries.listDue(connectionId, { now: clock.now(), ...BATCH, maxItems: 1 })
      if (!first || signal.aborted) throw error
      await applyBatchOf(connection, { signal, maxItems: 1 }).catch(async (error) => {
        await postpone(connectionId, { ids: [first.id], reason: 'internal_error' })
        throw error
      })
      return true
    }
  }

  /** Returns whether the batch was full. */
  async function applyBatchOf(
    connection: ConnectionRow,
    { signal, maxItems }: { signal: AbortSignal; maxItems: number },
  ): Promise<boolean> {
    let isFull = false
    const questions = await whileConnected(connection, async (repos, { connection, isArchived }) => {
      const now = clock.now()
      const rows = await repos.deliveries.listDue(connection.id, { now, ...BATCH, maxItems })
      isFull = rows.length === maxItems || bytesOf(rows) >= BATCH.maxBytes
      if (isArchived) {
        const dropped = { status: 'dropped' as const, reason: 'project_archived' }
        const settled = rows.map(({ id }) => ({ id, ...dropped }))
        await repos.deliveries.settle(connection.id, { settled, now })
        return []
      }
      const { settled, questions } = await applyBatch(repos, { clock, connection, rows })
      await repos.deliveries.settle(connection.id, { settled, now })
      const until = new Date(now.getTime() + ASKING_MS)
      await repos.deliveries.postpone(connection.id, { ids: questions.flatMap(({ ids }) => ids), until })
      return questions
    })
    for (const question of questions ?? []) {
      // On abort, another instance can ask at once.
      const { ids } = question
      if (signal.aborted) await deliveries.postpone(connection.id, { ids, until: clock.now() })
      else await ask(question, { connection, signal })
    }
    return isFull
  }

  async function ask(
    question: Question,
    { connection, signal }: { connection: ConnectionRow; signal: AbortSignal },
  ): Promise<void> {
    const { ids } = question
    const access = vault.accessOf(connection)
    if ('code' in access) return fail(connection.id, { ids, reason: access.code })
    const waiting = { connectionId: connection.id, ids, access }
    const { repositoryId } = connection
    if (question.about === 'name') {
      const found = await host.findRepository(access, { nameOrId: repositoryId, signal })
      if (found.outcome !== 'found') return handle(found, waiting)
      const { name: repository } = found.repository
      await whileConnected(connection, async (repos, { connection }) => {
        await saveName(repos, { clock, connection, repository })
        const settled = settledAs(ids, { status: 'applied', reason: null })
        await repos.deliveries.settle(connection.id, { settled, now: clock.now() })
      })
      return
    }
    const { number } = question
    let { version } = question
    for (let reading = 1; reading <= MAX_READINGS; reading++) {
      const response = await host.readItem(access, { repositoryId, number, signal })
      if (response.outcome === 'refused' || response.outcome === 'unreachable') {
        return handle(response, waiting)
      }
      const item = response.outcome === 'present' ? itemOf(response.item) : undefined
      if (response.outcome === 'present' && item?.number !== number) {
        return postpone(connection.id, { ids, reason: 'codehost_unreachable' })
      }
      // What was written since may be newer than the response, which nothing tells: then read it again.
      const outcome = await whileConnected(connection, async (repos, { connection, isArchived }) => {
        if (isArchived) return { version }
        const [task] = await repos.syncedTasks.listKnownForUpdate(connection.projectId, {
          repositoryId,
          numbers: [number],
        })
        if ((task?.version ?? null) !== version) return { version: task?.version ?? null }
        const settled: Settlement[] = []
        if (item) {
          const [decision] = await writeItems(repos, { clock, connection, items: [item] })
          const taskId = decision?.row?.id ?? task?.id
          if (decision) settled.push(...ids.map((id) => settlementOf(id, { decision, taskId })))
        } else if (response.outcome !== 'present') {
          const gone = { number, sourceState: response.outcome }
          await markGone(repos, { clock, connection, item: gone })
          settled.push(...settledAs(ids, { status: 'applied', reason: null, taskId: task?.id }))
        }
        await repos.deliveries.settle(connection.id, { settled, now: clock.now() })
        return 'written'
      })
      if (outcome === 'written' || outcome === undefined) return
      version = outcome.version
    }
    await postpone(connection.id, { ids, reason: null })
  }

  async function handle(
    response: Refusal | Unreachable,
    { connectionId, ids, access }: { connectionId: string; ids: string[]; access: HostAccess },
  ): Promise<void> {
    if (response.outcome === 'unreachable') {
      return postpone(connectionId, { ids, reason: 'codehost_unreachable' })
    }
    const judged = judgeRefusal(response, { now: clock.now(), access, limitedBefore: 0 })
    if (judged.verdict === 'fail') return fail(connectionId, { ids, reason: judged.code })
    await postpone(connectionId, { ids, reason: 'rate_limited', until: judged.retryAt })
  }

  async function fail(
    connectionId: string,
    { ids, reason }: { ids: string[]; reason: string },
  ): Promise<void> {
    const settled = settledAs(ids, { status: 'failed', reason })
    for (const status of await deliveries.settle(connectionId, { settled, now: clock.now() }))
      metrics.pushed(status)
  }

  /** Tries again later, each time after twice as long, until it has failed too often. */
  async function postpone(
    connectionId: string,
    again: { ids: string[]; reason: string | null; until?: Date },
  ): Promise<void> {
    const ended = await deliveries.retryLater(connectionId, { now: clock.now(), ...again, ...RETRIES })
    for (const status of ended) metrics.pushed(status)
  }

  /** Locks project and connection, in this order as everywhere. Does nothing if the connection no longer exists. */
  async function whileConnected<T>(
    { id, projectId }: ConnectionRow,
    work: (
      repos: BoundRepositories,
      locked: { connection: ConnectionRow; isArchived: boolean },
    ) => Promise<T>,
  ): Promise<T | undefined> {
    const ended: Settlement['status'][] = []
    const result = await repos.within({ projectId }).transaction(async (repos) => {
      const project = await repos.projects.findForUpdate(projectId)
      const connection = await repos.codehost.findForUpdate(projectId)
      if (connection?.id !== id) return undefined
      const deliveries = recording(repos.deliveries, ended)
      return work({ ...repos, deliveries }, { connection, isArchived: project?.archivedAt != null })
    })
    // Only now: a transaction that fails has ended none.
    for (const status of ended) metrics.pushed(status)
    return result
  }
}

/** The deliveries of a transaction, with the status of each that it ends. */
const recording = (
  deliveries: BoundRepositories['deliveries'],
  ended: Settlement['status'][],
): BoundRepositories['deliveries'] => ({
  ...deliveries,
  async settle(connectionId, settlement) {
    const settled = await deliveries.settle(connectionId, settlement)
    ended.push(...settled)
    return settled
  },
})

const bytesOf = (rows: PendingRow[]) => rows.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0)

const settledAs = (ids: string[], outcome: Omit<Settlement, 'id'>): Settlement[] =>
  ids.map((id) => ({ id, ...outcome }))
