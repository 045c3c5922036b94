import { useEffect, useState } from 'react'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "3 min ago", in the viewer's zone, with the exact time on hover. */
export function Moment({ at, isShort = false }: { at: string; isShort?: boolean }) {
  useMinuteTick()
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {agoOf(at, Date.now(), isShort)}
    </time>
  )
}

function agoOf(at: string, now: number, isShort = false): string {
  const passed = now - Date.parse(at)
  const ago = isShort ? '' : ' ago'
  if (passed < -MINUTE) return `in ${spanOf(-passed)}`
  if (passed < MINUTE) return isShort ? 'now' : 'just now'
  if (passed < 7 * DAY) return `${spanOf(passed)}${ago}`
  const date = new Date(at)
  return (date.getFullYear() === new Date(now).getFullYear() ? day : dayOfYear).format(date)
}

function spanOf(ms: number): string {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

const listeners = new Set<() => void>()
setInterval(() => {
  for (const listener of listeners) listener()
}, 30_000)

/** One clock for all times on the page. */
function useMinuteTick() {
  const [, setTick] = useState(0)
  useEffect(() => {
    const listener = () => setTick((tick) => tick + 1)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
}
