import { periodically } from '../../lib/periodically.ts'
import { traced } from '../../lib/traced.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { Refetch } from './batch.ts'
import { type Pause, type RefetchDeps, refetcher } from './refetching.ts'
import type { Settling } from './settling.ts'

interface RefetchContext {
  connectionId: string
  signal: AbortSignal
}

/** While this instance refetches something, no other one does; if it is killed, another continues then. */
export const REFETCH_MS = 60_000
/** When a code host could not be reached, until the next request of the connection. */
const PAUSE_MS = 5_000

/**
 * Refetches in the background: for each connection one thing after another, in their order, and once for all deliveries
 * about the same that have come before.
 */
export function refetchQueues(deps: RefetchDeps & { repos: Repositories }, settling: Settling) {
  const { repos } = deps
  const { pushedDeliveries } = repos.within(everywhere)
  const read = refetcher(deps, settling)
  /** By connection. */
  const queues = new Map<string, Queue>()
  const running = new Set<Promise<void>>()
  const errors: unknown[] = []

  return {
    add(refetches: Refetch[], context: RefetchContext): void {
      if (refetches.length === 0) return
      const queue = queues.get(context.connectionId)
      if (queue) {
        for (const refetch of refetches) addTo(queue, refetch)
        return
      }
      const added: Queue = { current: undefined, waiting: [...refetches] }
      queues.set(context.connectionId, added)
      const work = redacted(() => refetchAll(added, context))
        .catch((error) => void errors.push(error))
        .finally(() => running.delete(work))
      running.add(work)
    },

    /** The errors since the last call. */
    takeErrors: (): unknown[] => errors.splice(0),

    /** Resolves when nothing is being refetched. */
    async whenRefetched(): Promise<void> {
      await Promise.all(running)
    },
  }

  async function refetchAll(queue: Queue, context: RefetchContext): Promise<void> {
    const { connectionId, signal } = context
    const idsOf = () => [queue.current, ...queue.waiting].flatMap((refetch) => refetch?.ids ?? [])
    // A long queue takes longer: without this, its deliveries would be due again.
    const renewal = periodically(
      () => pushedDeliveries.postpone(connectionId, { ids: idsOf(), afterMs: REFETCH_MS }).catch(() => {}),
      REFETCH_MS / 3,
    )
    try {
      for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) {
        queue.current = next
        const pause = signal.aborted ? undefined : await refetchOne(next, context)
        if (signal.aborted) {
          // Another instance can refetch them at once.
          await renewal.stop()
          await pushedDeliveries.postpone(connectionId, { ids: idsOf(), afterMs: 0 })
          return
        }
        queue.current = undefined
        if (!pause) continue
        const ids = idsOf()
        queue.waiting.length = 0
        await pushedDeliveries.postpone(connectionId, { ids, afterMs: pause.forMs ?? PAUSE_MS })
      }
    } finally {
      queues.delete(connectionId)
      await renewal.stop()
    }
  }

  async function refetchOne(refetch: Refetch, context: RefetchContext): Promise<Pause | undefined> {
    const { connectionId, signal } = context
    try {
      const attributes = { 'inlet.connection.id': connectionId }
      return await traced({ name: 'refetch', kind: 'job', attributes }, () => read(refetch, context))
    } catch (error) {
      if (signal.aborted) return undefined
      const connection = await pushedDeliveries.findConnection(connectionId)
      if (connection) await settling.postpone(connection, { ids: refetch.ids, reason: 'internal_error' })
      throw error
    }
  }
}

interface Queue {
  /** What is being refetched. */
  current: Refetch | undefined
  /** What is still to be refetched. */
  waiting: Refetch[]
}

/** A response to a later request is newer than what was reported before. */
function addTo({ current, waiting }: Queue, refetch: Refetch): void {
  const same = waiting.find((each) => subjectOf(each) === subjectOf(refetch))
  const known = new Set([...(current?.ids ?? []), ...(same?.ids ?? [])])
  const ids = refetch.ids.filter((id) => !known.has(id))
  if (same) same.ids.push(...ids)
  else if (ids.length > 0) waiting.push({ ...refetch, ids })
}

function subjectOf(refetch: Refetch): string {
  if (refetch.about === 'name') return 'name'
  return refetch.about === 'item' ? `item ${refetch.number}` : `comment ${refetch.externalId}`
}
