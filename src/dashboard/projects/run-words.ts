import type { Schema } from '../api/client.ts'

type Run = Schema<'SyncRun'>

const sumOf = ({ issues, pullRequests }: Run, name: keyof Run['issues']) => issues[name] + pullRequests[name]

/** What a run brought, as short as it goes: `+12 ~4 1 done`. */
export function countsOf(run: Run): string {
  const changed = sumOf(run, 'updated') + sumOf(run, 'reopened')
  return `+${sumOf(run, 'created')} ~${changed} ${sumOf(run, 'closed')} done`
}

/** The same in words. */
export function countsInWords(run: Run): string {
  const names = { created: 'new', updated: 'changed', reopened: 'opened again', closed: 'done' } as const
  const parts = (Object.keys(names) as (keyof typeof names)[]).map(
    (name) => `${run.issues[name]} issues and ${run.pullRequests[name]} pull requests ${names[name]}`,
  )
  return [...parts, `${sumOf(run, 'unchanged')} as they were`].join('\n')
}

/** How long a run took. */
export function lengthOf({ startedAt, finishedAt }: Run): string {
  if (!startedAt || !finishedAt) return ''
  const seconds = Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000))
  return seconds < 90 ? `, took ${seconds} s` : `, took ${Math.round(seconds / 60)} min`
}
