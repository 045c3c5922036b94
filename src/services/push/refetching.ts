import type { CodeHost, HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { commentOf } from '../../domain/codehost/comment.ts'
import { itemOf } from '../../domain/codehost/item.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Settlement } from '../../repositories/deliveries/pushed.ts'
import { type BoundRepositories, everywhere, inProject, type Repositories } from '../../repositories/index.ts'
import { isFailure } from '../codehost/failures.ts'
import { readComment, readItem } from '../codehost/reading.ts'
import type { TokenVault } from '../codehost/token.ts'
import { tokenPauses } from '../codehost/token-pauses.ts'
import { deleteComments, writeComments } from '../sync/comments.ts'
import { markGone, saveName, writeItems } from '../sync/items.ts'
import { type Refetch, settlementOf } from './batch.ts'
import { commentSettlement, stateOf } from './comment-batch.ts'
import { type Settling, settledAs } from './settling.ts'

export interface RefetchDeps {
  clock: Clock
  host: Pick<CodeHost, 'readItem' | 'readPage' | 'latestUrl' | 'readComment' | 'findRepository'>
  vault: Pick<TokenVault, 'accessOf'>
}

/** How often something is read again because it changed here meanwhile. */
const MAX_READINGS = 5

/** Reads from the code host what a delivery does not tell, and applies the response. Returns whether others have to wait. */
export function refetcher(
  { repos, clock, host, vault }: RefetchDeps & { repos: Repositories },
  { fail, postpone, whileConnected, databaseNow }: Settling,
) {
  const { pushedDeliveries } = repos.within(everywhere)
  const pauses = tokenPauses({ repos })

  return async function refetchOne(
    refetch: Refetch,
    { connectionId, signal }: { connectionId: string; signal: AbortSignal },
  ): Promise<Pause | undefined> {
    const { ids } = refetch
    const connection = await pushedDeliveries.findConnection(connectionId)
    // Its deliveries are deleted with it.
    if (!connection) return undefined
    const access = vault.accessOf(connection)
    if ('code' in access) {
      await fail(connection, { ids, reason: access.code })
      return undefined
    }
    const paused = await pauses.remaining(access)
    if (paused > 0) {
      await pushedDeliveries.postpone(connectionId, { ids, afterMs: paused })
      return { forMs: paused }
    }
    const waiting = { connection, ids, access }
    const { syncedTasks, syncedComments } = repos.within(inProject(connection.projectId))
    const { repositoryId } = connection
    if (refetch.about === 'name') {
      const found = await host.findRepository(access, { nameOrId: repositoryId, signal })
      if (found.outcome !== 'found') return handle(found, waiting)
      const { name: repository } = found.repository
      await whileConnected(connection, async (repos, { connection }) => {
        await saveName(repos, { clock, connection, repository })
        const settled = settledAs(ids, { outcome: 'updated', reason: null })
        await repos.pushedDeliveries.settle(connection.id, settled)
      })
      return undefined
    }
    if (refetch.about === 'comment') {
      const { projectId } = connection
      const externalIds = [refetch.externalId]
      const [stored] = await syncedComments.list(projectId, { repositoryId, externalIds })
      return refetchComment(refetch, { waiting, seen: stateOf(stored), signal })
    }
    const { number } = refetch
    return untilUnchanged(waiting, {
      seen: await syncedTasks.findVersion(connection.projectId, { repositoryId, number }),
      read: () => readItem(host, { access, repositoryId, number, signal }),
      async write(repos, { connection, response, seen }) {
        const item = response.outcome === 'present' ? itemOf(response.item) : undefined
        if (response.outcome === 'present' && item?.number !== number) return 'invalid'
        const [task] = await repos.syncedTasks.listKnownForUpdate(connection.projectId, {
          repositoryId,
          numbers: [number],
        })
        if ((task?.version ?? null) !== seen) return { seen: task?.version ?? null }
        if (item) {
          const [decision] = await writeItems(repos, { clock, connection, items: [item] })
          const taskId = decision?.row?.id ?? task?.id
          return decision ? ids.map((id) => settlementOf(id, { decision, taskId })) : []
        }
        if (response.outcome === 'present') return 'invalid'
        const gone = { number, sourceState: response.outcome }
        await markGone(repos, { clock, connection, item: gone })
        return settledAs(ids, { outcome: 'updated', reason: null, taskId: task?.id })
      },
    })
  }

  async function refetchComment(
    { ids, externalId, number }: Extract<Refetch, { about: 'comment' }>,
    { waiting, seen, signal }: { waiting: Waiting; seen: string | null; signal: AbortSignal },
  ): Promise<Pause | undefined> {
    const { projectId, repositoryId } = waiting.connection
    return untilUnchanged(waiting, {
      seen,
      read: () => readComment(host, { access: waiting.access, repositoryId, number, externalId, signal }),
      async write(repos, { connection, response, seen }) {
        await repos.syncedTasks.lockForComments(projectId, { repositoryId, numbers: [number] })
        const [stored] = await repos.syncedComments.list(projectId, {
          repositoryId,
          externalIds: [externalId],
        })
        if (stateOf(stored) !== seen) return { seen: stateOf(stored) }
        if (response.outcome === 'present') {
          const comment = commentOf(response.comment)
          if (comment?.externalId !== externalId) return 'invalid'
          const comments = [{ ...comment, number }]
          const [decision] = await writeComments(repos, { clock, connection, comments })
          return decision ? ids.map((id) => commentSettlement(id, decision)) : []
        }
        const gone = response.outcome === 'deleted' ? [externalId] : []
        const deleted = await deleteComments(repos, { clock, connection, externalIds: gone })
        const reason = deleted.length > 0 ? null : 'unchanged'
        return settledAs(ids, { outcome: 'updated', reason, taskId: stored?.taskId })
      },
    })
  }

  /** Reads and writes until nothing else was written meanwhile: it may be newer than the response, which nothing tells. */
  async function untilUnchanged<T extends { outcome: string }, S>(
    waiting: Waiting,
    { seen: first, read, write }: ItemReading<T, S>,
  ): Promise<Pause | undefined> {
    const { ids, connection } = waiting
    let seen = first
    for (let reading = 1; reading <= MAX_READINGS; reading++) {
      const response = await read()
      if (isFailure(response)) return handle(response, waiting)
      const outcome = await whileConnected(connection, async (repos, { connection, isArchived }) => {
        if (isArchived) return { seen }
        const written = await write(repos, { connection, response, seen })
        if (Array.isArray(written)) {
          await repos.pushedDeliveries.settle(connection.id, written)
        }
        return written
      })
      if (outcome === 'invalid') {
        await postpone(connection, { ids, reason: 'codehost_unreachable' })
        return undefined
      }
      if (outcome === undefined || Array.isArray(outcome)) return undefined
      seen = outcome.seen
    }
    await postpone(connection, { ids, reason: null })
    return undefined
  }

  async function handle(
    response: Refusal | Unreachable,
    { connection, ids, access }: Waiting,
  ): Promise<Pause | undefined> {
    if (response.outcome === 'unreachable') {
      await postpone(connection, { ids, reason: 'codehost_unreachable' })
      return {}
    }
    const now = await databaseNow()
    const judged = judgeRefusal(response, { now, access, limitedBefore: 0 })
    if (judged.verdict === 'fail') {
      await fail(connection, { ids, reason: judged.code })
      return undefined
    }
    const forMs = await pauses.pause(access, { now, retryAt: judged.retryAt })
    // Where the host does not say how long, each of them waits longer than the last time.
    const wait = judged.isGuess ? { firstMs: forMs } : { afterMs: forMs }
    await postpone(connection, { ids, reason: 'rate_limited', ...wait })
    return { forMs }
  }
}

/** Others of the connection have to wait, too: so long, if it is known. */
export interface Pause {
  forMs?: number
}

/** Deliveries that wait for the code host. */
interface Waiting {
  connection: ConnectionRow
  ids: string[]
  access: HostAccess
}

interface ItemReading<T, S> {
  /** What was stored before the request. */
  seen: S
  read(): Promise<T | Refusal | Unreachable>
  /** Returns what is stored now if it is something else, or `invalid` if the response is. */
  write(
    repos: BoundRepositories,
    read: { connection: ConnectionRow; response: T; seen: S },
  ): Promise<Settlement[] | { seen: S } | 'invalid'>
}
