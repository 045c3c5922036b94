import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ChangePosition, encodeChangeCursor } from '../../domain/change-cursor.ts'
import { detached } from '../../lib/traced.ts'
import type { ActivityRow } from '../../repositories/activity.ts'
import { type Repositories, reaches } from '../../repositories/index.ts'
import type { Sequencer } from './sequencer.ts'
import { bufferedSubscription, type Subscription } from './subscription.ts'
import { toActivity } from './view.ts'

/** An event of the stream: a change, or a transient event that is not stored. */
export interface StreamEvent {
  /** The cursor of the change. Null for transient events: a stream cannot resume from them. */
  id: string | null
  /** Absent from transient events. */
  position?: number
  type: string
  projectId: string | null
  /** Sent to the subscribers of every project. */
  isForAll?: true
  /** Only sent to this person, or to all people, whatever their projects. */
  to?: string | 'people'
  /** JSON on one line. */
  data: string
}

/** An event that is not stored. */
export type TransientEvent = StreamEvent & { id: null }

/** What a subscriber receives. */
export interface FeedFilter {
  /** Null for what concerns any project, or none. */
  projectIds: readonly string[] | null
  types?: string[] | undefined
  /** The person who receives it, if it is one. */
  userId?: string | undefined
}

export type ActivityFeed = ReturnType<typeof activityFeed>

interface FeedDeps {
  changes: Pick<Repositories['changes'], 'list' | 'snapshot'>
  sequencer: Pick<Sequencer, 'catchUp'>
}

/** Rows of one query. */
const PAGE = 200

const POLL_MS = 100
const MAX_PAUSE_MS = 5_000

/** Yields to the event loop after this many characters, so that subscribers can read before they count as slow. */
const MAX_CHARACTERS_PER_TURN = 64 * 1024

/**
 * Reads the activity log in the order of positions, rows of all instances, each exactly once. One reader per process,
 * active only while there are subscribers, polls ten times a second for committed transactions and gives them positions;
 * without any, it does not query the tables. (A NOTIFY per write would serialize all commits.)
 */
export function activityFeed({ changes, sequencer }: FeedDeps) {
  const subscriptions = new Set<ReturnType<typeof bufferedSubscription>>()
  let pending: PromiseWithResolvers<ChangePosition>[] = []
  let reading: Promise<void> | undefined
  let wake = () => {}
  let onError: (error: unknown) => void = () => {}
  /** Everything up to here was delivered. */
  let delivered: ChangePosition | undefined

  return {
    between,

    /**
     * Subscribes to events from now on; fails if the database is unavailable. Aborts the controller when the subscriber
     * is too slow or the epoch ends; aborting it from outside ends the subscription.
     */
    async subscribe(filter: FeedFilter, ending: AbortController): Promise<Subscription> {
      const started = Promise.withResolvers<ChangePosition>()
      pending.push(started)
      reading ??= detached(read)
      wake()
      const start = await started.promise
      // Added in the turn in which the reader resolved it, so nothing is read in between.
      const subscription = bufferedSubscription(start, {
        ending,
        isRelevant: (event) => concerns(event, filter),
        position: () => delivered ?? start,
      })
      if (ending.signal.aborted) return subscription
      subscriptions.add(subscription)
      ending.signal.addEventListener('abort', () => {
        subscriptions.delete(subscription)
        subscription.end()
        wake()
      })
      return subscription
    },

    /** Sends a transient event, such as the progress of a sync, to the subscribers of this instance. */
    publish(event: TransientEvent): void {
      deliver(event)
    },

    /** Sets the listener for errors of the reader. */
    onError(listener: (error: unknown) => void): void {
      onError = listener
    },

    /** Resolves when there are no subscribers and the reader has stopped. */
    async idle(): Promise<void> {
      await reading
    },
  }

  /** The changes after a position up to another one, in pages; `limit` restricts concurrent reads. */
  async function* between(
    { epoch, position }: ChangePosition,
    {
      to,
      filter = EVERYTHING,
      limit = (work) => work(),
    }: { to: number; filter?: FeedFilter; limit?: <T>(work: () => Promise<T>) => Promise<T> },
  ): AsyncGenerator<StreamEvent[]> {
    for (let after = position; after < to; ) {
      const range = { after, to: Math.min(to, after + MAX_POSITIONS), ...filter, limit: PAGE }
      const rows = await limit(() => changes.list(range))
      if (rows.length > 0) yield rows.map((row) => toEvent(row, { epoch, position: row.position }))
      after = rows.length < PAGE ? range.to : (rows.at(-1)?.position ?? range.to)
    }
  }

  async function read(): Promise<void> {
    let seen: string | undefined
    let pause = POLL_MS
    delivered = undefined
    while (subscriptions.size > 0 || pending.length > 0) {
      const starting = pending
      pending = []
      try {
        const now = await changes.snapshot()
        if (now !== seen || !delivered) {
          const { end, isComplete } = await sequencer.catchUp()
          await deliverUpTo(end)
          // Taken before the positions were given: what was committed in between is found by the next look.
          seen = isComplete ? now : undefined
        }
        pause = POLL_MS
        for (const subscriber of starting) subscriber.resolve(position())
        // They become subscribers before anything else is read.
        await nextTurn()
      } catch (error) {
        for (const subscriber of starting) subscriber.reject(error)
        if (pause === POLL_MS) onError(error)
        pause = Math.min(pause * 2, MAX_PAUSE_MS)
      }
      await sleep(pause)
    }
    reading = undefined
  }

  function position(): ChangePosition {
    if (!delivered) throw new Error('Nothing has been read yet.')
    return delivered
  }

  async function deliverUpTo(end: ChangePosition): Promise<void> {
    if (delivered && (delivered.epoch !== end.epoch || delivered.position > end.position)) cutAll()
    else if (delivered) {
      for await (const events of between(delivered, { to: end.position })) {
        await deliverAll(events)
        // If the next page cannot be read, this one is not repeated.
        delivered = { epoch: end.epoch, position: events.at(-1)?.position ?? end.position }
      }
    }
    delivered = end
  }

  async function deliverAll(events: StreamEvent[]): Promise<void> {
    let size = 0
    for (const event of events) {
      deliver(event)
      size += event.data.length
      if (size < MAX_CHARACTERS_PER_TURN) continue
      await nextTurn()
      size = 0
    }
  }

  function deliver(event: StreamEvent): void {
    for (const subscription of subscriptions) subscription.push(event)
  }

  /** Clients reconnect, and learn that their cursor is of another epoch. */
  function cutAll(): void {
    for (const subscription of subscriptions) subscription.cut()
  }

  function sleep(ms: number): Promise<void> {
    if (pending.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Positions that one query looks up, for a filter that matches few: 5 µs each. */
export const MAX_POSITIONS = 5_000

const EVERYTHING: FeedFilter = { projectIds: null }

export const toEvent = (row: ActivityRow, at: ChangePosition): StreamEvent => ({
  id: encodeChangeCursor(at),
  position: at.position,
  type: row.type,
  projectId: row.projectId,
  data: JSON.stringify(toActivity(row)),
})

/** Whether a subscriber receives the event. */
export const concerns = (
  event: Pick<StreamEvent, 'projectId' | 'isForAll' | 'to' | 'type'>,
  { projectIds, types, userId }: FeedFilter,
) =>
  (event.to === undefined
    ? reaches({ projectIds }, event.projectId) || event.isForAll === true
    : userId !== undefined && (event.to === 'people' || event.to === userId)) &&
  (types === undefined || types.includes(event.type))
