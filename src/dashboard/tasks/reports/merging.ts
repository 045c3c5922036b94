import type { TaskListItem } from '../../api/queries.ts'

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
