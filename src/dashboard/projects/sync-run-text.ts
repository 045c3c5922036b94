import type { Schema } from '../api/client.ts'
import { plural } from '../lib/plural.ts'

type Run = Schema<'SyncRun'>

const total = ({ issues, pullRequests }: Run, name: keyof Run['issues']) => issues[name] + pullRequests[name]

/** Everything that a run changed. */
export const changesOf = (run: Run) =>
  total(run, 'created') + total(run, 'updated') + total(run, 'reopened') + total(run, 'closed')

/** For example `+12 (5 done), ~4, 1 done`, or `no changes`. */
export function shortCounts(run: Run): string {
  const created = total(run, 'created')
  const changed = total(run, 'updated') + total(run, 'reopened')
  const closed = total(run, 'closed')
  const parts = [
    created > 0 && `+${created}${run.createdDone > 0 ? ` (${run.createdDone} done)` : ''}`,
    changed > 0 && `~${changed}`,
    closed > 0 && `${closed} done`,
  ]
  return parts.filter(Boolean).join(', ') || 'no changes'
}

/** The same, spelled out for the tooltip. */
export function fullCounts(run: Run): string {
  const names = { created: 'new', updated: 'changed', reopened: 'reopened', closed: 'done' } as const
  const parts = (Object.keys(names) as (keyof typeof names)[]).map(
    (name) =>
      `${plural(run.issues[name], 'issue')} and ${plural(run.pullRequests[name], 'pull request')} ${names[name]}`,
  )
  if (run.createdDone > 0) parts.push(`${run.createdDone} of the new ones already done`)
  const { created, updated, deleted } = run.comments
  if (created + updated + deleted > 0) {
    parts.push(`${plural(created, 'comment')} new, ${updated} edited, ${deleted} deleted`)
  }
  return [...parts, `${plural(total(run, 'unchanged'), 'item')} unchanged`].join('\n')
}

export function durationText({ startedAt, finishedAt }: Run): string {
  if (!startedAt || !finishedAt) return ''
  const seconds = Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000))
  return seconds < 90 ? `took ${seconds} s` : `took ${Math.round(seconds / 60)} min`
}

/** The remaining time, in seconds precision; undefined once it has passed. */
export function timeUntil(time: string, now: number): string | undefined {
  const seconds = Math.ceil((Date.parse(time) - now) / 1000)
  if (seconds <= 0) return undefined
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}
