import { useEffect, useState } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { dayText } from './day-text.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// The first use of Intl takes 25 to 80 ms, so the first page avoids it.
let exactFormat: Intl.DateTimeFormat | undefined

/** The moment in the viewer's time zone. */
export function formatExact(dateTime: string): string {
  exactFormat ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  return exactFormat.format(new Date(dateTime))
}

/** "3 min ago", with the exact time in the viewer's time zone on hover. */
export function RelativeTime({ dateTime, isShort = false }: { dateTime: string; isShort?: boolean }) {
  useClockTick()
  return (
    <time
      key={dateTime}
      dateTime={dateTime}
      onPointerEnter={({ currentTarget }) => (currentTarget.title = formatExact(dateTime))}
    >
      {formatRelative(dateTime, { now: serverNow(), isShort })}
    </time>
  )
}

function formatRelative(dateTime: string, { now, isShort }: { now: number; isShort: boolean }): string {
  const elapsed = now - Date.parse(dateTime)
  const suffix = isShort ? '' : ' ago'
  if (elapsed < -MINUTE) return `in ${formatDuration(-elapsed)}`
  if (elapsed < MINUTE) return isShort ? 'now' : 'just now'
  if (elapsed < 7 * DAY) return `${formatDuration(elapsed)}${suffix}`
  return dayText(new Date(dateTime), new Date(now))
}

function formatDuration(ms: number): string {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

const listeners = new Set<() => void>()
setInterval(() => {
  for (const listener of listeners) listener()
}, 30_000)

/** One timer for all times on the page. */
function useClockTick() {
  const [, setTick] = useState(0)
  useEffect(() => {
    const listener = () => setTick((tick) => tick + 1)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
}
