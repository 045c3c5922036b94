import type { QueryClient } from '@tanstack/react-query'
import { invalidate } from '../api/invalidate.ts'
import type { Activity } from '../api/queries.ts'
import { toServerTime } from '../api/server-clock.ts'
import { createCacheUpdater } from './cache-updates.ts'
import { IDLE_TIMEOUT_MS, type LiveEvent } from './event-source.ts'
import { fetchActivitySince } from './missed-activity.ts'
import { followSharedStream } from './shared-stream.ts'

/** For deduplication: what is fetched after a gap overlaps with the stream. */
const MAX_REMEMBERED_IDS = 5_000
/** Missed activity is requested until it succeeds. */
const RETRY_MS = 1_000

/** An event that stands for many changes. */
const BURST = 'stream.burst'
/** A burst is over when nothing more came for this long. What is shown is checked then, */
const BURST_QUIET_MS = 4_000
/** and this often while it lasts. */
const BURST_INTERVAL_MS = 30_000

interface Following {
  /** The page shows what the service had then, by this machine's clock. */
  startedAt: number
  /** The time by this machine's clock since which events may be missing; survives reconnects. */
  missed: { since: number }
  onEvents(events: LiveEvent[]): void
  onDisconnected(isDisconnected: boolean): void
}

/** Keeps the query cache up to date with the stream. Returns a function that ends it. */
export function followChanges(
  queryClient: QueryClient,
  { startedAt, missed, onEvents: notify, onDisconnected }: Following,
): () => void {
  const seenIds = new Set<string>()
  const cache = createCacheUpdater(queryClient)
  let wasOpen = false
  let isStopped = false
  let retry: ReturnType<typeof setTimeout> | undefined

  /** Since when there is a burst that is not shown yet. */
  let burstSince: number | undefined
  let burstEnd: ReturnType<typeof setTimeout> | undefined

  function onBurst() {
    const now = Date.now()
    burstSince ??= now
    clearTimeout(burstEnd)
    burstEnd = setTimeout(showBurst, Math.min(BURST_QUIET_MS, burstSince + BURST_INTERVAL_MS - now))
  }

  /** Lists look for themselves what to show; everything else that is shown is fetched again. */
  function showBurst() {
    burstSince = undefined
    notify([{ id: null, type: BURST, data: {} }])
    void invalidate(queryClient, { predicate: ({ queryKey }) => queryKey[0] !== 'tasks' })
  }

  function onEvents(events: LiveEvent[]) {
    // What follows a burst is part of it: one look shows all.
    if (burstSince !== undefined || events.some(({ type }) => type === BURST)) onBurst()
    const changes = burstSince === undefined ? events : events.filter(({ id }) => id === null)
    const newEvents = changes.filter((event) => !seenIds.has(activityIdOf(event)))
    for (const event of newEvents) if (event.id !== null) seenIds.add(activityIdOf(event))
    if (seenIds.size > MAX_REMEMBERED_IDS)
      for (const id of [...seenIds].slice(0, MAX_REMEMBERED_IDS / 2)) seenIds.delete(id)
    if (newEvents.length === 0) return
    cache.applyEvents(newEvents)
    notify(newEvents)
  }

  async function catchUp() {
    clearTimeout(retry)
    const { since } = missed
    missed.since = Number.POSITIVE_INFINITY
    try {
      const activities = await fetchActivitySince(toServerTime(since))
      if (activities)
        onEvents(activities.map((activity) => ({ id: activity.id, type: activity.type, data: activity })))
      else await invalidate(queryClient)
    } catch {
      markMissed(since)
      if (!isStopped) retry = setTimeout(() => void catchUp(), RETRY_MS)
    }
  }

  function markMissed(since: number) {
    missed.since = Math.min(missed.since, since)
  }

  const stop = followSharedStream('/api/stream?bursts=summary', {
    onEvents,
    onLeadWithoutId: () => markMissed(startedAt),
    onState(state) {
      onDisconnected(state === 'disconnected' && wasOpen)
      // A dead connection is detected only after the idle timeout.
      if (state === 'disconnected' && wasOpen) markMissed(Date.now() - IDLE_TIMEOUT_MS)
      if (state !== 'open') return
      // Queries that failed while the service was down are retried now.
      void queryClient.refetchQueries({
        type: 'active',
        predicate: ({ state: { status } }) => status === 'error',
      })
      // The catch-up covers only tasks; other queries are refetched.
      if (wasOpen && missed.since < Number.POSITIVE_INFINITY)
        void invalidate(queryClient, { predicate: ({ queryKey }) => queryKey[0] !== 'tasks' })
      // Changes between the page load and the start of the stream are in neither.
      if (!wasOpen) markMissed(startedAt)
      if (missed.since < Number.POSITIVE_INFINITY) void catchUp()
      wasOpen = true
    },
  })
  return () => {
    isStopped = true
    clearTimeout(retry)
    stop()
    clearTimeout(burstEnd)
    cache.stop()
  }
}

/** Cast: only events with an id have an activity. */
const activityIdOf = ({ id, data }: LiveEvent) => (id === null ? '' : (data as Activity).id)
