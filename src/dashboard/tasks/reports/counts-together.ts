import type { Schema } from '../../api/client.ts'

type ReportCounts = Schema<'ReportCounts'>
type Counts = ReportCounts['sentiments']

/** The counts of several tasks as one, most frequent first; nothing of tasks that were not found. */
export function countsTogether(found: (ReportCounts | undefined)[]): ReportCounts {
  const each = found.filter((counts) => counts !== undefined)
  const times = (name: 'firstOpenedAt' | 'lastOpenedAt') =>
    each
      .map((counts) => counts[name])
      .filter((time) => time !== null)
      .sort()
  return {
    sentiments: totals(each.flatMap(({ sentiments }) => sentiments)),
    appVersions: totals(each.flatMap(({ appVersions }) => appVersions)),
    firstOpenedAt: times('firstOpenedAt').at(0) ?? null,
    lastOpenedAt: times('lastOpenedAt').at(-1) ?? null,
  }
}

function totals(counts: Counts): Counts {
  const byName = new Map<string, number>()
  for (const { name, count } of counts) byName.set(name, (byName.get(name) ?? 0) + count)
  return [...byName]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
}
