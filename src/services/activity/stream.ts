import type { Operations } from '../../domain/operation.ts'
import { replayFrom } from '../../domain/replay.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { projectNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { semaphore } from '../../lib/semaphore.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { AccessService, Caller } from '../access.ts'
import { ANYTHING_MAY_HAVE_CHANGED } from './configuration-changes.ts'
import { type ActivityFeed, concerns, PAGE, type StreamEvent, toEvent } from './feed.ts'
import type { Subscription } from './subscription.ts'

interface StreamRequest {
  projectId?: string | undefined
  /** The id of the last activity received. */
  lastEventId?: string | undefined
}

interface StreamDeps {
  repos: Repositories
  feed: ActivityFeed
  access: Pick<AccessService, 'isStillAdmitted' | 'onForget'>
  clock: Pick<Clock, 'now'>
  /** Sends an empty batch after this long without an event. */
  heartbeatMs?: number
  /** How often the caller is checked again: a revoked key receives nothing more. */
  checkMs?: number
}

/** After a restart all clients reconnect at once: streams use at most this many connections of the pool. */
const MAX_CONCURRENT_READS = 3

export const streamOperations = {
  open: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof streamService>>

/** Streams of the activity log, one per caller. */
export function streamService({
  repos,
  feed,
  access,
  clock,
  heartbeatMs = 15_000,
  checkMs = 5_000,
}: StreamDeps) {
  const limit = semaphore(MAX_CONCURRENT_READS)

  return {
    /**
     * Streams what the caller may see, from now or a minute before the last activity received, until `ending` is
     * aborted: by a disconnect, or here when the caller loses access or reads too slowly. Empty batches are heartbeats.
     * @throws project_not_found
     */
    async open(
      caller: Caller,
      { request: { projectId, lastEventId }, ending }: { request: StreamRequest; ending: AbortController },
    ): Promise<AsyncIterable<StreamEvent[]>> {
      const bound = repos.within(caller)
      if (projectId && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const scope = projectId ?? caller.projectId

      if (lastEventId === undefined) {
        const subscription = await feed.subscribe(scope, ending)
        watch(caller, ending)
        return live(subscription, ending.signal)
      }
      const isKnown = (await bound.activity.find(lastEventId)) !== undefined
      const from = replayFrom(lastEventId, { isKnown, now: clock.now() })
      const start = await feed.position()
      watch(caller, ending)
      return replay(caller, { scope, from, start, ending })
    },
  }

  async function* live(subscription: Subscription, signal: AbortSignal): AsyncGenerator<StreamEvent[]> {
    yield []
    while (!signal.aborted) yield await subscription.next(heartbeatMs)
  }

  /** Reads from the database at the client's pace: first what existed, then what was added since, then live. */
  async function* replay(
    caller: Caller,
    {
      scope,
      from,
      start,
      ending,
    }: { scope: string | null; from: string; start: Snapshot; ending: AbortController },
  ): AsyncGenerator<StreamEvent[]> {
    const { signal } = ending
    const { activity } = repos.within(caller)
    yield []
    for (let after: string | undefined; ; ) {
      const filter = { projectId: scope ?? undefined, from }
      const last = after
      const rows = await limit(() => activity.listVisible(start.text, { filter, after: last, limit: PAGE }))
      if (signal.aborted) return
      yield rows.map(toEvent)
      after = rows.at(-1)?.id
      if (rows.length < PAGE) break
    }
    // Until the rest is small enough to be buffered.
    let position = start
    for (let count = PAGE; count >= PAGE; ) {
      const next = await feed.position()
      count = 0
      for await (const events of feed.between(position, { later: next, limit })) {
        if (signal.aborted) return
        count += events.length
        yield events.filter((event) => concerns(event, scope))
      }
      position = next
    }
    const subscription = await feed.subscribe(scope, ending)
    for await (const events of feed.between(position, { later: subscription.start, limit })) {
      yield events.filter((event) => concerns(event, scope))
    }
    // Transient events sent meanwhile are not in the log.
    yield ANYTHING_MAY_HAVE_CHANGED.filter((event) => concerns(event, scope))
    yield* live(subscription, signal)
  }

  function watch(caller: Caller, ending: AbortController): void {
    async function check() {
      // While the database is unavailable there are no events and no new callers.
      const isAdmitted = await limit(() => access.isStillAdmitted(caller)).catch(() => true)
      if (!isAdmitted) ending.abort()
    }
    // At once after a revocation on any instance, and periodically for expiry.
    const unlisten = access.onForget(check)
    const timer = setInterval(check, checkMs)
    const stop = () => {
      clearInterval(timer)
      unlisten()
    }
    if (ending.signal.aborted) stop()
    else ending.signal.addEventListener('abort', stop)
  }
}
