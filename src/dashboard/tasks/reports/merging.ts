import type { TaskListItem } from '../../api/queries.ts'
import { clockTime } from '../../components/clock-time.ts'
import { plural } from '../../lib/plural.ts'

type Mergeable = Pick<TaskListItem, 'id' | 'reports'>

/**
 * Which of two tasks becomes a report of the other: the one that is reported less often, or else the newer one. Undefined
 * if both have reports.
 */
export function mergeOf<A extends Mergeable, B extends Mergeable>(
  a: A,
  b: B,
): { report: A | B; target: A | B } | undefined {
  if (a.reports > 1 && b.reports > 1) return undefined
  return byReports(a, b) < 0 ? { report: b, target: a } : { report: a, target: b }
}

/** The best target first: the one that is reported most often, then the oldest. */
export const byReports = (a: Mergeable, b: Mergeable): number =>
  b.reports - a.reports || (a.id < b.id ? -1 : 1)

type Described = Pick<TaskListItem, 'reports' | 'openedAt'>

interface Feedback {
  sentiment?: string | null
  appVersion?: string | null
}

/** What tells tasks with the same title apart: "4 reports, frustrated, 2.3.1, 21 Nov, 08:15". */
export function detailsText(
  { reports, openedAt }: Described,
  { sentiment, appVersion }: Feedback = {},
): string {
  const details = [reports > 1 && plural(reports, 'report'), sentiment, appVersion, clockTime(openedAt)]
  return details.filter(Boolean).join(', ')
}

/** "3 frustrated, 1 meh". Empty if there is none. */
export function countsText(counts: { name: string; count: number }[], preposition = ''): string {
  const shown = counts
    .slice(0, MAX_SHOWN)
    .map(({ name, count }) => `${count.toLocaleString()} ${preposition}${name}`)
  const others = counts.slice(MAX_SHOWN).reduce((sum, { count }) => sum + count, 0)
  return [...shown, ...(others > 0 ? [`${others.toLocaleString()} ${preposition}others`] : [])].join(', ')
}

/** A line has room for so many. */
const MAX_SHOWN = 6
