import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { useMe } from '../session/session.ts'
import type { LiveEvent } from './event-source.ts'

type Listener = (events: LiveEvent[]) => void

interface LiveUpdates {
  isDisconnected: boolean
  /** Calls the listener once per new event. Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void
}

const LiveUpdatesContext = createContext<LiveUpdates>({ isDisconnected: false, subscribe: () => () => {} })

/** Keeps the query cache up to date with the stream and provides its events. */
export function LiveUpdatesProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient()
  const { can, me } = useMe()
  const canReadTasks = can('tasks:read')
  // A stream ends with its session, so a new session opens a new stream.
  const sessionId = me?.id
  const [isDisconnected, setDisconnected] = useState(false)
  const listeners = useRef(new Set<Listener>())
  const missed = useRef({ since: Number.POSITIVE_INFINITY })

  useEffect(() => {
    if (!canReadTasks || !sessionId) return
    const following = {
      startedAt: Math.min(Date.now(), oldestListLoad(queryClient)),
      missed: missed.current,
      onDisconnected: setDisconnected,
      onEvents(events: LiveEvent[]) {
        for (const listener of listeners.current) listener(events)
      },
    }
    let isStopped = false
    // The first page does not wait for it.
    const stop = import('./follow-changes.ts').then(
      ({ followChanges }) => (isStopped ? undefined : followChanges(queryClient, following)),
      () => setDisconnected(true),
    )
    return () => {
      isStopped = true
      void stop.then((stop) => stop?.())
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
