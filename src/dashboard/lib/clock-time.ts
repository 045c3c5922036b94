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
  const isThisYear = time.getFullYear() === now.getFullYear()
  return time.toLocaleString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
    ...(!isToday && { day: 'numeric', month: 'short' }),
    ...(!isThisYear && { year: 'numeric' }),
  })
}
