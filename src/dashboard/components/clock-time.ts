import { dayText } from './day-text.ts'

interface ClockOptions {
  now?: Date
  hasSeconds?: boolean
}

/** A time in the viewer's time zone: of today without, of another day with the date. */
export function clockTime(
  dateTime: string,
  { now = new Date(), hasSeconds = false }: ClockOptions = {},
): string {
  const time = new Date(dateTime)
  const isToday = time.toDateString() === now.toDateString()
  const clock = time.toLocaleTimeString(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
  })
  return isToday ? clock : `${dayText(time, now)}, ${clock}`
}
