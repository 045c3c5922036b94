import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { invalidate } from '../api/invalidate.ts'
import type { Activity } from '../api/queries.ts'
import { toServerTime } from '../api/server-clock.ts'
import { preloadModule } from '../components/lazy.tsx'
import { useMe } from '../session/session.ts'
import { IDLE_TIMEOUT_MS, type LiveEvent } from './event-source.ts'
import { fetchActivitySince } from './missed-activity.ts'
import { followSharedStream } from './shared-stream.ts'

type Listener = (events: LiveEvent[]) => void

interface LiveUpdates {
  isDisconnected: boolean
  /** Calls the listener once per new event. Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void
}

const LiveUpdatesContext = createContext<LiveUpdates>({ isDisconnected: false, subscribe: () => () => {} })

/** For deduplication: what is fetched after a gap overlaps with the stream. */
const MAX_REMEMBERED_IDS = 5_000
/** Missed activity is requested until it succeeds. */
const RETRY_MS = 1_000

/** The first page needs it when something changes. */
const loadCacheUpdates = preloadModule(() => import('./cache-updates.ts'))

/** Keeps the query cache up to date with the stream and provides its events. */
export function LiveUpdatesProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient()
  const { can, me } = useMe()
  const canReadTasks = can('tasks:read')
  // A stream ends with its session, so a new session opens a new stream.
  const sessionId = me?.id
  const [isDisconnected, setDisconnected] = useState(false)
  const listeners = useRef(new Set<Listener>())
  /** The time by this machine's clock since which events may be missing; survives reconnects. */
  const missedSince = useRef(Number.POSITIVE_INFINITY)

  useEffect(() => {
    if (!canReadTasks || !sessionId) return
    const seenIds = new Set<string>()
    const cacheUpdater = loadCacheUpdates().then(({ createCacheUpdater }) => createCacheUpdater(queryClient))
    const startedAt = Math.min(Date.now(), oldestListLoad(queryClient))
    let wasOpen = false
    let isStopped = false
    let retry: ReturnType<typeof setTimeout> | undefined

    function onEvents(events: LiveEvent[]) {
      const newEvents = events.filter((event) => !seenIds.has(activityIdOf(event)))
      for (const event of newEvents) if (event.id !== null) seenIds.add(activityIdOf(event))
      if (seenIds.size > MAX_REMEMBERED_IDS)
        for (const id of [...seenIds].slice(0, MAX_REMEMBERED_IDS / 2)) seenIds.delete(id)
      if (newEvents.length === 0) return
      cacheUpdater.then(
        ({ applyEvents }) => applyEvents(newEvents),
        () => invalidate(queryClient),
      )
      for (const listener of listeners.current) listener(newEvents)
    }

    async function catchUp() {
      clearTimeout(retry)
      const since = missedSince.current
      missedSince.current = Number.POSITIVE_INFINITY
      try {
        const activities = await fetchActivitySince(toServerTime(since))
        if (activities)
          onEvents(activities.map((activity) => ({ id: activity.id, type: activity.type, data: activity })))
        else await invalidate(queryClient)
      } catch {
        missedSince.current = Math.min(missedSince.current, since)
        if (!isStopped) retry = setTimeout(() => void catchUp(), RETRY_MS)
      }
    }

    const markMissed = (since: number) => {
      missedSince.current = Math.min(missedSince.current, since)
    }
    const stop = followSharedStream('/api/stream', {
      onEvents,
      onLeadWithoutId: () => markMissed(startedAt),
      onState(state) {
        setDisconnected(state === 'disconnected' && wasOpen)
        // A dead connection is detected only after the idle timeout.
        if (state === 'disconnected' && wasOpen) markMissed(Date.now() - IDLE_TIMEOUT_MS)
        if (state !== 'open') return
        // Queries that failed while the service was down are retried now.
        void queryClient.refetchQueries({
          type: 'active',
          predicate: ({ state: { status } }) => status === 'error',
        })
        // The catch-up covers only tasks; other queries are refetched.
        if (wasOpen && missedSince.current < Number.POSITIVE_INFINITY)
          void invalidate(queryClient, { predicate: ({ queryKey }) => queryKey[0] !== 'tasks' })
        // Changes between the page load and the start of the stream are in neither.
        if (!wasOpen) markMissed(startedAt)
        if (missedSince.current < Number.POSITIVE_INFINITY) void catchUp()
        wasOpen = true
      },
    })
    return () => {
      isStopped = true
      clearTimeout(retry)
      stop()
      cacheUpdater.then(
        (updater) => updater.stop(),
        () => {},
      )
    }
  }, [queryClient, canReadTasks, sessionId])

  const live = useMemo<LiveUpdates>(
    () => ({
      isDisconnected,
      subscribe(listener) {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
    }),
    [isDisconnected],
  )
  return <LiveUpdatesContext value={live}>{children}</LiveUpdatesContext>
}

/** Cast: only events with an id have an activity. */
const activityIdOf = ({ id, data }: LiveEvent) => (id === null ? '' : (data as Activity).id)

/** When the oldest cached list was loaded. */
const oldestListLoad = (queryClient: QueryClient) =>
  Math.min(
    ...queryClient
      .getQueryCache()
      .findAll({ queryKey: ['tasks'] })
      .map(({ state }) => state.dataUpdatedAt || Number.POSITIVE_INFINITY),
  )

export const useLiveUpdates = () => useContext(LiveUpdatesContext)

export function useLiveEvents(listener: Listener) {
  const { subscribe } = useLiveUpdates()
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => subscribe((events) => latest.current(events)), [subscribe])
}
