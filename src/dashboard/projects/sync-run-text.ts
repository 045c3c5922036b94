import type { Schema } from '../api/client.ts'
import { plural } from '../lib/plural.ts'

type Run = Schema<'SyncRun'>

const sumOf = ({ issues, pullRequests }: Run, name: keyof Run['issues']) => issues[name] + pullRequests[name]

/** What a run brought, as short as it goes: `+12 (5 done) ~4 1 done`. */
export function countsOf(run: Run): string {
  const changed = sumOf(run, 'updated') + sumOf(run, 'reopened')
  const created = `+${sumOf(run, 'created')}${run.createdDone > 0 ? ` (${run.createdDone} done)` : ''}`
  return `${created} ~${changed} ${sumOf(run, 'closed')} done`
}

/** The same in words. */
export function countsInWords(run: Run): string {
  const names = { created: 'new', updated: 'changed', reopened: 'opened again', closed: 'done' } as const
  const parts = (Object.keys(names) as (keyof typeof names)[]).map(
    (name) =>
      `${plural(run.issues[name], 'issue')} and ${plural(run.pullRequests[name], 'pull request')} ${names[name]}`,
  )
  if (run.createdDone > 0) parts.push(`${run.createdDone} of the new ones done already`)
  return [...parts, `${plural(sumOf(run, 'unchanged'), 'entry', 'entries')} unchanged`].join('\n')
}

/** How long a run took. */
export function lengthOf({ startedAt, finishedAt }: Run): string {
  if (!startedAt || !finishedAt) return ''
  const seconds = Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000))
  return seconds < 90 ? `, took ${seconds} s` : `, took ${Math.round(seconds / 60)} min`
}

/** In how long a time is, to the second; undefined once it has come. */
export function timeUntil(at: string, now: number): string | undefined {
  const seconds = Math.ceil((Date.parse(at) - now) / 1000)
  if (seconds <= 0) return undefined
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}
