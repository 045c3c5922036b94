import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseSnapshot, type Snapshot, spanBetween } from '../../domain/snapshot.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityLogRow, ActivityRow } from '../../repositories/activity.ts'
import type { Repositories } from '../../repositories/index.ts'
import { follower, type Subscription } from './follower.ts'
import { toActivity } from './view.ts'

/** Something to tell: an entry of the record, or something that passes and is not kept. */
export interface StreamEvent {
  /** Null where nothing can be taken up again from here. */
  id: string | null
  type: string
  projectId: string | null
  /** Told to those who follow one project, whichever. */
  isForAll?: true
  /** JSON on one line. */
  data: string
}

/** What passes and is not kept. */
export type TransientEvent = StreamEvent & { id: null }

export type ActivityFeed = ReturnType<typeof activityFeed>

/** Rows read at once. */
export const PAGE = 200

const POLL_MS = 100
const MAX_PAUSE_MS = 5_000

/** Past this many characters readers get a turn, so that a burst does not look as if nobody read. */
const MAX_CHARACTERS_PER_TURN = 64 * 1024

/** Numbers of transactions mean nothing in another cluster: what is older came with a restore. */
const MAX_AGE_MS = 3_600_000

/**
 * Everything that is written to the record, by whichever instance, in the order of commits: nothing missed, nothing
 * twice. One reader a process, at work only while somebody follows, looks every tenth of a second which transactions
 * are over by now; while none is, that costs no look at the table. (A NOTIFY a write would line up all commits.)
 */
export function activityFeed({ repos, clock }: { repos: Pick<Repositories, 'activityLog'>; clock: Clock }) {
  const { activityLog } = repos
  const followers = new Set<ReturnType<typeof follower>>()
  let pending: PromiseWithResolvers<Snapshot>[] = []
  let reading: Promise<void> | undefined
  let wake = () => {}
  let onError: (error: unknown) => void = () => {}

  return {
    position,
    between,

    /**
     * Follows from here on; fails when the database is away. The controller is aborted when the follower falls too
     * far behind; when somebody else aborts it, the subscription ends.
     */
    async subscribe(projectId: string | null, ending: AbortController): Promise<Subscription> {
      const start = Promise.withResolvers<Snapshot>()
      pending.push(start)
      reading ??= read()
      wake()
      const position = await start.promise
      // Added in the same turn as the reader went on, so nothing is read in between.
      const subscriber = follower(position, ending, (event) => concerns(event, projectId))
      if (ending.signal.aborted) return subscriber
      followers.add(subscriber)
      ending.signal.addEventListener('abort', () => {
        followers.delete(subscriber)
        subscriber.end()
        wake()
      })
      return subscriber
    },

    /** Tells those who follow on this instance something that is not kept, such as the progress of a sync. */
    publish(event: TransientEvent): void {
      deliver(event)
    },

    /** Hears of what goes wrong between the answers. */
    onError(listener: (error: unknown) => void): void {
      onError = listener
    },

    /** Resolves when nobody follows any more and nothing is read. */
    async idle(): Promise<void> {
      await reading
    },
  }

  async function position(): Promise<Snapshot> {
    return parseSnapshot(await activityLog.snapshot())
  }

  /** What became visible between two positions, in pages; each is read when the gate lets it. */
  async function* between(
    earlier: Snapshot,
    later: Snapshot,
    limit = <T>(work: () => Promise<T>) => work(),
  ): AsyncGenerator<StreamEvent[]> {
    if (earlier.text === later.text) return
    const span = spanBetween(earlier, later)
    if (!span) throw new Error('The database went back in time: it is not the one it was.')
    const notBefore = new Date(clock.now().getTime() - MAX_AGE_MS)
    for (let after: ActivityLogRow | undefined; ; ) {
      const last = after
      const rows = await limit(() => activityLog.listWritten(span, notBefore, last, PAGE))
      if (rows.length > 0) yield rows.map(toEvent)
      after = rows.at(-1)
      if (rows.length < PAGE) return
    }
  }

  async function read(): Promise<void> {
    let last: Snapshot | undefined
    let pause = POLL_MS
    while (followers.size > 0 || pending.length > 0) {
      const starting = pending
      pending = []
      try {
        const now = await position()
        if (last && !spanBetween(last, now)) cutAll()
        else if (last) for await (const events of between(last, now)) await deliverAll(events)
        last = now
        pause = POLL_MS
        for (const subscriber of starting) subscriber.resolve(now)
        // They are among the followers before anything else is read.
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
    for (const subscriber of followers) subscriber.push(event)
  }

  /** They come back and say where they were. */
  function cutAll(): void {
    for (const subscriber of followers) subscriber.cut()
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

/** Whether it is told to those who follow this project; null follows everything. */
export const concerns = (event: Pick<StreamEvent, 'projectId' | 'isForAll'>, projectId: string | null) =>
  projectId === null || event.projectId === projectId || event.isForAll === true
