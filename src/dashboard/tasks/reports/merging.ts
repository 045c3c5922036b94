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

/** How often each value occurs, most frequent first: "3 frustrated, 1 meh". Empty if there is none. */
export function countsText(values: unknown[]): string {
  const counts = new Map<string, number>()
  for (const value of values)
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([value, count]) => `${count} ${value}`)
    .join(', ')
}
