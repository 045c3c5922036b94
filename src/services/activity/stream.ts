import { type ChangePosition, decodeChangeCursor, encodeChangeCursor } from '../../domain/change-cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { replayFrom } from '../../domain/replay.ts'
import { projectNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { semaphore } from '../../lib/semaphore.ts'
import { inProject, type Repositories } from '../../repositories/index.ts'
import type { Caller } from '../access.ts'
import { type AdmissionDeps, admission } from './admission.ts'
import { burstUpTo, MAX_CHANGES, withoutBursts } from './bursts.ts'
import { ANYTHING_MAY_HAVE_CHANGED, NOTHING_IS_KNOWN } from './configuration-changes.ts'
import {
  type ActivityFeed,
  concerns,
  type FeedFilter,
  type StreamEvent,
  type TransientEvent,
} from './feed.ts'
import type { Sequencer } from './sequencer.ts'
import type { Subscription } from './subscription.ts'

interface StreamRequest {
  projectId?: string | undefined
  /** The id of the last event received, or of an activity. */
  lastEventId?: string | undefined
  /** Whether each change of a burst is sent, or one event for many. */
  bursts?: 'each' | 'summary' | undefined
}

interface Live {
  scope: FeedFilter
  missed: TransientEvent[]
  signal: AbortSignal
  /** Whether one event stands for the changes of a burst. */
  isSummary: boolean
}

export interface StreamBatch {
  events: StreamEvent[]
  /** In a batch without events: where the stream can resume. */
  cursor?: string
}

interface StreamDeps extends Omit<AdmissionDeps, 'limit'> {
  repos: Repositories
  feed: ActivityFeed
  sequencer: Pick<Sequencer, 'catchUp'>
  clock: Pick<Clock, 'now'>
  /** Sends an empty batch after this long without an event. */
  heartbeatMs?: number
}

/** After a restart all clients reconnect at once: streams use at most this many connections of the pool. */
const MAX_CONCURRENT_READS = 3

/** A replay reads from the database until it has this much left, which is less than a subscription buffers. */
const MAX_LEFT = 200

export const streamOperations = {
  open: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof streamService>>

/** Streams of the activity log, one per caller. */
export function streamService({
  repos,
  feed,
  sequencer,
  access,
  clock,
  heartbeatMs = 15_000,
  checkMs,
}: StreamDeps) {
  const limit = semaphore(MAX_CONCURRENT_READS)
  const endWithAccess = admission({ access, checkMs, limit })

  return {
    /**
     * Streams what the caller may see, from now, after the last event received, or a minute before an activity, until
     * `ending` is aborted: by a disconnect, or here when the caller loses access or reads too slowly. Batches without
     * events are heartbeats, the first batch is one.
     * @throws project_not_found
     */
    async open(
      caller: Caller,
      {
        request: { projectId, lastEventId, bursts },
        ending,
      }: { request: StreamRequest; ending: AbortController },
    ): Promise<AsyncIterable<StreamBatch>> {
      const bound = repos.within(caller)
      if (projectId && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const { projectIds } = projectId ? inProject(projectId) : caller
      const scope = { projectIds, userId: caller.user?.id }

      const isSummary = bursts === 'summary'
      const start = lastEventId === undefined ? undefined : await startAfter(caller, lastEventId)
      if (start && start !== 'unknown') {
        endWithAccess(caller, ending)
        return replay(start, { scope, ending, isSummary })
      }
      const subscription = await feed.subscribe(scope, ending)
      endWithAccess(caller, ending)
      const missed = start === 'unknown' ? NOTHING_IS_KNOWN : []
      return live(subscription, { scope, missed, signal: ending.signal, isSummary })
    },
  }

  /** Where a stream resumes; `unknown` for a cursor of another epoch, so that nobody knows what came since. */
  async function startAfter(caller: Caller, lastEventId: string): Promise<ChangePosition | 'unknown'> {
    const cursor = decodeChangeCursor(lastEventId)
    const { end } = await sequencer.catchUp()
    if (cursor) {
      return cursor.epoch === end.epoch && cursor.position <= end.position ? cursor : 'unknown'
    }
    const isKnown = (await repos.within(caller).activity.find(lastEventId)) !== undefined
    const first = await limit(() =>
      repos.changes.findFirstSince(replayFrom(lastEventId, { isKnown, now: clock.now() })),
    )
    return { epoch: end.epoch, position: first === undefined ? end.position : first - 1 }
  }

  async function* live(
    each: Subscription,
    { scope, missed, signal, isSummary }: Live,
  ): AsyncGenerator<StreamBatch> {
    const subscription = isSummary ? withoutBursts(each) : each
    yield heartbeat(subscription.start)
    const events = missed.filter((event) => concerns(event, scope))
    if (events.length > 0) yield { events }
    while (!signal.aborted) {
      // Before the events: without any, the client has all up to here.
      const position = subscription.position()
      const events = await subscription.next(heartbeatMs)
      yield events.length > 0 ? { events } : heartbeat(position)
    }
  }

  /** Reads from the database at the client's pace until little is left, then live. */
  async function* replay(
    start: ChangePosition,
    { scope, ending, isSummary }: { scope: FeedFilter; ending: AbortController; isSummary: boolean },
  ): AsyncGenerator<StreamBatch> {
    const { signal } = ending
    yield heartbeat(start)
    let position = start
    for (let left = MAX_LEFT; left >= MAX_LEFT; ) {
      const { end } = await sequencer.catchUp()
      if (end.epoch !== start.epoch) return ending.abort()
      left = end.position - position.position
      if (isSummary && left > MAX_CHANGES) yield { events: [burstUpTo(end)] }
      else
        for await (const events of feed.between(position, { to: end.position, filter: scope, limit })) {
          if (signal.aborted) return
          yield { events }
        }
      position = end
    }
    const subscription = await feed.subscribe(scope, ending)
    if (subscription.start.epoch !== start.epoch) return ending.abort()
    const { position: to } = subscription.start
    for await (const events of feed.between(position, { to, filter: scope, limit })) yield { events }
    // Transient events sent meanwhile are not in the log.
    yield* live(subscription, { scope, missed: ANYTHING_MAY_HAVE_CHANGED, signal, isSummary })
  }
}

const heartbeat = (position: ChangePosition): StreamBatch => ({
  events: [],
  cursor: encodeChangeCursor(position),
})
