import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { useMe } from '../session/session.ts'
import { changesFor } from './apply.ts'
import { type LiveEvent, LONGEST_SILENCE_MS } from './event-source.ts'
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
/** A first connection that takes longer leaves a gap after what the page has loaded. */
const LATE_MS = 5_000

/** Everything below sees changes as they happen, whoever makes them. */
export function LiveChanges({ children }: { children: ReactNode }) {
  const cache = useQueryClient()
  const { can } = useMe()
  const mayFollow = can('tasks:read')
  const [isLost, setLost] = useState(false)
  const listeners = useRef(new Set<Listener>())

  useEffect(() => {
    if (!mayFollow) return
    const known = new Set<string>()
    const changes = changesFor(cache)
    const startedAt = Date.now()
    let wasOpen = false
    let lostAt = Number.POSITIVE_INFINITY
    const stop = followTogether('/api/stream', {
      onEvents(events) {
        const fresh = events.filter(({ id }) => id === null || !known.has(id))
        for (const { id } of fresh) if (id) known.add(id)
        if (known.size > REMEMBERED) for (const id of [...known].slice(0, REMEMBERED / 2)) known.delete(id)
        if (fresh.length === 0) return
        changes.take(fresh)
        for (const listener of listeners.current) listener(fresh)
      },
      onState(state) {
        setLost(state === 'lost' && wasOpen)
        // A connection that died in silence is noticed late.
        if (state === 'lost' && wasOpen) lostAt = Math.min(lostAt, Date.now() - LONGEST_SILENCE_MS)
        if (state !== 'open') return
        if (!wasOpen && Date.now() - startedAt > LATE_MS) lostAt = startedAt
        // The stream repeats what was missed; asking as well covers a loss before its first entry.
        if (lostAt < Number.POSITIVE_INFINITY)
          void changes.catchUp(lostAt).then(() => {
            for (const listener of listeners.current) listener([])
          })
        wasOpen = true
        lostAt = Number.POSITIVE_INFINITY
      },
    })
    return () => {
      stop()
      changes.stop()
    }
  }, [cache, mayFollow])

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

export const useLive = () => useContext(LiveContext)

/** Calls back with events as they come. */
export function useLiveEvents(listener: Listener) {
  const { hear } = useLive()
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => hear((events) => latest.current(events)), [hear])
}
