import { dayText } from '../components/day-text.ts'

/** "14 Sep": weeks begin on Monday, UTC, also where that is Sunday. */
export function weekName(start: string): string {
  const monday = new Date(`${start.slice(0, 10)}T00:00`)
  return dayText(monday, monday)
}
