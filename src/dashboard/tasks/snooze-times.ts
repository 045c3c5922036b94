/** The hour at which a day of work begins, in the time zone of who snoozes. */
const MORNING = 9
const HOUR_MS = 3_600_000

interface SnoozeTime {
  label: string
  time: Date
}

/** When tasks are usually put off to. The clock shows nine in the morning, whatever daylight saving does meanwhile. */
export function snoozeTimes(now: Date): SnoozeTime[] {
  return [
    { label: 'In three hours', time: new Date(now.getTime() + 3 * HOUR_MS) },
    { label: 'Tomorrow', time: tomorrow(now) },
    { label: 'Next week', time: morning(now, { days: daysUntilMonday(now) }) },
    { label: 'In a month', time: morning(now, { months: 1 }) },
  ]
}

export const tomorrow = (now: Date): Date => morning(now, { days: 1 })

const daysUntilMonday = (now: Date): number => 7 - ((now.getDay() + 6) % 7)

function morning(now: Date, { days = 0, months = 0 }: { days?: number; months?: number }): Date {
  const [year, month, day] = [now.getFullYear(), now.getMonth() + months, now.getDate() + days]
  // A shorter month ends earlier: the day after its last is not meant.
  const lastDay = new Date(year, month + 1, 0).getDate()
  return new Date(year, month, months > 0 ? Math.min(day, lastDay) : day, MORNING)
}

/** A date that somebody types, at nine in the morning if it has no time: year-month-day hour:minute. */
export function typedTime(text: string): Date | undefined {
  const [, date, hour = String(MORNING).padStart(2, '0'), minute = '00'] =
    /^\s*(\d{4}-\d\d-\d\d)(?:[ T]+(\d\d):(\d\d))?\s*$/.exec(text) ?? []
  // Without a zone it is local time.
  const time = new Date(`${date}T${hour}:${minute}`)
  return Number.isNaN(time.getTime()) || !date?.endsWith(String(time.getDate()).padStart(2, '0'))
    ? undefined
    : time
}
