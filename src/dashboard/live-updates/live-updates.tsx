import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { serverTime } from '../api/server-clock.ts'
import { useMe } from '../session/session.ts'
import { changesFor } from './cache-updates.ts'
import { type LiveEvent, MAX_SILENCE_MS } from './event-source.ts'
import { activitySince } from './missed-activity.ts'
import { followTogether } from './shared-stream.ts'

type Listener = (events: LiveEvent[]) => void

interface Live {
  isLost: boolean
  /** Hears every new event once; answers how to stop. */
  hear(listener: Listener): () => void
}

const LiveContext = createContext<Live>({ isLost: false, hear: () => () => {} })

/** How many ids are remembered; a stream that comes back repeats its last minute. */
const REMEMBERED = 5_000
/** What was missed is asked for until it is known. */
const RETRY_MS = 1_000

/** Everything below sees changes as they happen, whoever makes them. */
export function LiveChanges({ children }: { children: ReactNode }) {
  const cache = useQueryClient()
  const { can, me } = useMe()
  const mayFollow = can('tasks:read')
  // A stream ends with its session; whoever signs in again gets a new one.
  const sessionId = me?.id
  const [isLost, setLost] = useState(false)
  const listeners = useRef(new Set<Listener>())
  /** From when on something may have gone unheard, by this machine's clock; it outlives the stream. */
  const missedSince = useRef(Number.POSITIVE_INFINITY)

  useEffect(() => {
    if (!mayFollow || !sessionId) return
    const known = new Set<string>()
    const changes = changesFor(cache)
    const startedAt = Math.min(Date.now(), oldestList(cache))
    let wasOpen = false
    let isOver = false
    let retry: ReturnType<typeof setTimeout> | undefined

    function onEvents(events: LiveEvent[]) {
      const fresh = events.filter(({ id }) => id === null || !known.has(id))
      for (const { id } of fresh) if (id) known.add(id)
      if (known.size > REMEMBERED) for (const id of [...known].slice(0, REMEMBERED / 2)) known.delete(id)
      if (fresh.length === 0) return
      changes.take(fresh)
      for (const listener of listeners.current) listener(fresh)
    }

    async function catchUp() {
      clearTimeout(retry)
      const since = missedSince.current
      missedSince.current = Number.POSITIVE_INFINITY
      try {
        const entries = await activitySince(serverTime(since))
        if (entries) onEvents(entries.map((entry) => ({ id: entry.id, type: entry.type, data: entry })))
        else await cache.invalidateQueries()
      } catch {
        missedSince.current = Math.min(missedSince.current, since)
        if (!isOver) retry = setTimeout(() => void catchUp(), RETRY_MS)
      }
    }

    const miss = (since: number) => {
      missedSince.current = Math.min(missedSince.current, since)
    }
    const stop = followTogether('/api/stream', {
      onEvents,
      onBareStart: () => miss(startedAt),
      onState(state) {
        setLost(state === 'lost' && wasOpen)
        // A connection that died in silence is noticed late.
        if (state === 'lost' && wasOpen) miss(Date.now() - MAX_SILENCE_MS)
        if (state !== 'open') return
        // What failed while the service was away is asked for now, not when somebody presses a button.
        void cache.refetchQueries({
          type: 'active',
          predicate: ({ state: { status } }) => status === 'error',
        })
        // What is not in the record, or not about tasks, has to be asked for again.
        if (wasOpen && missedSince.current < Number.POSITIVE_INFINITY)
          void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'tasks' })
        // The page was loaded before the stream was open; what happened between is in neither.
        if (!wasOpen) miss(startedAt)
        if (missedSince.current < Number.POSITIVE_INFINITY) void catchUp()
        wasOpen = true
      },
    })
    return () => {
      isOver = true
      clearTimeout(retry)
      stop()
      changes.stop()
    }
  }, [cache, mayFollow, sessionId])

  const live = useMemo<Live>(
    () => ({
      isLost,
      hear(listener) {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
    }),
    [isLost],
  )
  return <LiveContext value={live}>{children}</LiveContext>
}

/** When the oldest list that is held was asked for. */
const oldestList = (cache: QueryClient) =>
  Math.min(
    ...cache
      .getQueryCache()
      .findAll({ queryKey: ['tasks'] })
      .map(({ state }) => state.dataUpdatedAt || Number.POSITIVE_INFINITY),
  )

export const useLive = () => useContext(LiveContext)

/** Calls back with events as they come. */
export function useLiveEvents(listener: Listener) {
  const { hear } = useLive()
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => hear((events) => latest.current(events)), [hear])
}
