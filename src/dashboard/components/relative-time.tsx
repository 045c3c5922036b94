import { useEffect, useState } from 'react'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

// The first use of Intl takes a browser 25 to 80 ms: the first page has to do without.
let exact: Intl.DateTimeFormat | undefined

function exactly(at: string): string {
  exact ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  return exact.format(new Date(at))
}

/** "3 min ago", in the viewer's zone, with the exact time on hover. */
export function RelativeTime({ at, isShort = false }: { at: string; isShort?: boolean }) {
  useMinuteTick()
  return (
    <time key={at} dateTime={at} onPointerEnter={({ currentTarget }) => (currentTarget.title = exactly(at))}>
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
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`
  return date.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${date.getFullYear()}`
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
