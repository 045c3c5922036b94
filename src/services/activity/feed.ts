import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseSnapshot, type Snapshot, spanBetween } from '../../domain/snapshot.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityLogRow, ActivityRow } from '../../repositories/activity.ts'
import type { Repositories } from '../../repositories/index.ts'
import { bufferedSubscription, type Subscription } from './subscription.ts'
import { toActivity } from './view.ts'

/** An event of the stream: a row of the activity log, or a transient event that is not stored. */
export interface StreamEvent {
  /** Null for transient events: a stream cannot resume from them. */
  id: string | null
  type: string
  projectId: string | null
  /** Sent to the subscribers of every project. */
  isForAll?: true
  /** JSON on one line. */
  data: string
}

/** An event that is not stored. */
export type TransientEvent = StreamEvent & { id: null }

export type ActivityFeed = ReturnType<typeof activityFeed>

/** Rows of one query. */
export const PAGE = 200

const POLL_MS = 100
const MAX_PAUSE_MS = 5_000

/** Yields to the event loop after this many characters, so that subscribers can read before they count as slow. */
const MAX_CHARACTERS_PER_TURN = 64 * 1024

/** Older rows come from a restored backup: their transaction ids are those of another cluster. */
const MAX_AGE_MS = 3_600_000

/**
 * Reads the activity log in commit order, rows of all instances, each exactly once. One reader per process, active only
 * while there are subscribers, polls ten times a second for committed transactions; without any, it does not query the
 * table. (A NOTIFY per write would serialize all commits.)
 */
export function activityFeed({ repos, clock }: { repos: Pick<Repositories, 'activityLog'>; clock: Clock }) {
  const { activityLog } = repos
  const subscriptions = new Set<ReturnType<typeof bufferedSubscription>>()
  let pending: PromiseWithResolvers<Snapshot>[] = []
  let reading: Promise<void> | undefined
  let wake = () => {}
  let onError: (error: unknown) => void = () => {}

  return {
    position,
    between,

    /**
     * Subscribes to events from now on; fails if the database is unavailable. Aborts the controller when the subscriber
     * is too slow; aborting it from outside ends the subscription.
     */
    async subscribe(projectId: string | null, ending: AbortController): Promise<Subscription> {
      const start = Promise.withResolvers<Snapshot>()
      pending.push(start)
      reading ??= read()
      wake()
      const position = await start.promise
      // Added in the turn in which the reader resolved it, so nothing is read in between.
      const subscription = bufferedSubscription(position, {
        ending,
        isRelevant: (event) => concerns(event, projectId),
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

  async function position(): Promise<Snapshot> {
    return parseSnapshot(await activityLog.snapshot())
  }

  /** What became visible between two positions, in pages; `limit` restricts concurrent reads. */
  async function* between(
    earlier: Snapshot,
    {
      later,
      limit = (work) => work(),
    }: { later: Snapshot; limit?: <T>(work: () => Promise<T>) => Promise<T> },
  ): AsyncGenerator<StreamEvent[]> {
    if (earlier.text === later.text) return
    const span = spanBetween(earlier, later)
    if (!span) throw new Error('The database was restored to an earlier state.')
    const notBefore = new Date(clock.now().getTime() - MAX_AGE_MS)
    for (let after: ActivityLogRow | undefined; ; ) {
      const last = after
      const rows = await limit(() => activityLog.listWritten(span, { notBefore, after: last, limit: PAGE }))
      if (rows.length > 0) yield rows.map(toEvent)
      after = rows.at(-1)
      if (rows.length < PAGE) return
    }
  }

  async function read(): Promise<void> {
    let last: Snapshot | undefined
    let pause = POLL_MS
    while (subscriptions.size > 0 || pending.length > 0) {
      const starting = pending
      pending = []
      try {
        const now = await position()
        if (last && !spanBetween(last, now)) cutAll()
        else if (last) for await (const events of between(last, { later: now })) await deliverAll(events)
        last = now
        pause = POLL_MS
        for (const subscriber of starting) subscriber.resolve(now)
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

  /** Clients reconnect and resume from their last event. */
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

export const toEvent = (row: ActivityRow): StreamEvent => ({
  id: row.id,
  type: row.type,
  projectId: row.projectId,
  data: JSON.stringify(toActivity(row)),
})

/** Whether subscribers of a project receive the event; null stands for all projects. */
export const concerns = (event: Pick<StreamEvent, 'projectId' | 'isForAll'>, projectId: string | null) =>
  projectId === null || event.projectId === projectId || event.isForAll === true
