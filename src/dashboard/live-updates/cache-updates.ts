import type { QueryClient } from '@tanstack/react-query'
import { type Activity, at, everyPage, pageOfTasks } from '../api/queries.ts'
import { dropTasks, replaceTasks } from '../api/task-cache.ts'
import { throttled } from '../lib/throttle.ts'
import type { LiveEvent } from './event-source.ts'
import { OVERLAP_MS } from './missed-activity.ts'

/** Changes come in bursts (a sync, a bulk import); each burst is answered with one round of questions. */
const GATHER_MS = 250
/** Changes that keep coming cost so many questions at most; the key's rate limit is for whoever works. */
const ROUNDS_APART_MS = 2_000
const COUNTS_APART_MS = 5_000
/** What was not answered is asked again, with what came meanwhile. */
const RETRY_MS = 5_000
/** When more rows changed than this many pages hold, the pages that are shown are asked for anew. */
const MAX_PAGES = 5

/** Events of what no entry of the record tells. */
const CONFIGURATION = ['project.changed', 'routing.changed']

/** Brings what the page holds up to date with what the stream tells. */
export function changesFor(cache: QueryClient) {
  let waiting: Activity[] = []
  let isStopped = false
  /** What is not yet known of the rows: since when they may have changed, and which were told to be gone. */
  let owed: { since: number; gone: string[] } | undefined

  const stale = (...queryKey: unknown[]) => cache.invalidateQueries({ queryKey })

  const rounds = throttled(
    () => {
      const entries = waiting
      waiting = []
      return apply(entries)
    },
    { delayMs: GATHER_MS, intervalMs: ROUNDS_APART_MS },
  )
  // What assistants are sent holds counts and the latest tasks as well.
  const counts = throttled(() => Promise.all([stale('projects'), stale('lists'), stale('context')]), {
    delayMs: 0,
    intervalMs: COUNTS_APART_MS,
  })

  const configuration = throttled(
    () => Promise.all([stale('projects'), stale('lists'), stale('connection'), stale('routing')]),
    { delayMs: GATHER_MS, intervalMs: ROUNDS_APART_MS },
  )

  function take(events: LiveEvent[]) {
    // At once: whoever opens one of them next must not take it for fresh.
    void cache.invalidateQueries({ queryKey: ['tasks'], type: 'inactive', refetchType: 'none' })
    for (const { id, data } of events) if (id !== null) waiting.push(data as Activity)
    if (events.some(({ type }) => CONFIGURATION.includes(type))) configuration.ask()
    rounds.ask()
  }

  async function apply(entries: Activity[]) {
    const isAbout = (...prefixes: string[]) =>
      entries.some(({ type }) => prefixes.some((prefix) => type.startsWith(prefix)))
    const aboutTasks = entries.filter(({ taskId }) => taskId !== null)

    if (aboutTasks.length > 0) {
      for (const id of new Set(aboutTasks.map(({ taskId }) => taskId))) {
        void stale('timeline', id)
        void stale('task', id)
      }
      owe({
        since: Math.min(...aboutTasks.map(({ createdAt }) => Date.parse(createdAt))),
        gone: aboutTasks.flatMap(({ type, taskId }) => (type === 'task.deleted' && taskId ? taskId : [])),
      })
    }
    if (aboutTasks.length > 0 || isAbout('sync.')) counts.ask()
    if (isAbout('task.deleted', 'task.restored')) void stale('trash')
    if (isAbout('rule.')) void Promise.all([stale('rules'), stale('rule-versions'), stale('context')])
    if (isAbout('key.')) void Promise.all([stale('keys'), stale('webhook-secrets')])
    if (isAbout('feedback.')) void stale('events')
    if (isAbout('session.')) void stale('sessions')
    if (isAbout('project.', 'list.', 'connection.', 'routing.')) configuration.ask()
    if (isAbout('sync.')) void Promise.all([stale('syncs'), stale('connection')])
    await settle()
  }

  function owe({ since, gone }: { since: number; gone: string[] }) {
    owed = {
      since: Math.min(since, owed?.since ?? Number.POSITIVE_INFINITY),
      gone: [...gone, ...(owed?.gone ?? [])],
    }
  }

  async function settle() {
    const asked = owed
    if (!asked) return
    owed = undefined
    try {
      const present = await refreshRows(cache, asked.since)
      // What was told late may have been taken back meanwhile: only what is really gone goes.
      if (!present || isStopped) return
      dropTasks(
        cache,
        asked.gone.filter((id) => !present.has(id)),
      )
    } catch {
      owe(asked)
      rounds.ask(RETRY_MS)
    }
  }

  return {
    take,
    stop() {
      isStopped = true
      rounds.stop()
      counts.stop()
      configuration.stop()
    },
  }
}

/**
 * One question for all rows that changed since, however many are on the page; answers which those are, or
 * undefined when they were so many that what is shown was loaded anew.
 * @throws Problem
 */
async function refreshRows(cache: QueryClient, since: number): Promise<Set<string> | undefined> {
  const updatedSince = new Date(since - OVERLAP_MS).toISOString()
  const rows = await everyPage(
    (cursor) => pageOfTasks({ updatedSince, sort: '-updatedAt', limit: 200, ...at(cursor) }),
    MAX_PAGES,
  )
  if (!rows) {
    await cache.invalidateQueries({ queryKey: ['tasks'] })
    return undefined
  }
  replaceTasks(cache, rows)
  return new Set(rows.map(({ id }) => id))
}
