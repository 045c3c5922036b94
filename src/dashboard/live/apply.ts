import type { QueryClient } from '@tanstack/react-query'
import { answerOf, api } from '../api/client.ts'
import type { Activity } from '../api/queries.ts'
import { dropTasks, replaceTasks } from '../tasks/task-cache.ts'
import type { LiveEvent } from './event-source.ts'

/** Changes come in bursts (a sync, a bulk import); each burst is answered with one round of questions. */
const GATHER_MS = 250
/** What was changed just before the first event of a burst may carry an earlier time than it. */
const OVERLAP_MS = 5_000

/** Brings what the page holds up to date with what the stream tells. */
export function changesFor(cache: QueryClient) {
  let waiting: Activity[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  function take(events: LiveEvent[]) {
    for (const { id, data } of events) if (id !== null) waiting.push(data as Activity)
    timer ??= setTimeout(() => {
      timer = undefined
      const entries = waiting
      waiting = []
      void apply(entries)
    }, GATHER_MS)
  }

  async function apply(entries: Activity[]) {
    const about = (prefix: string) => entries.filter(({ type }) => type.startsWith(prefix))
    const taskIds = new Set(entries.flatMap(({ taskId }) => taskId ?? []))
    const stale = (...queryKey: unknown[]) => cache.invalidateQueries({ queryKey })

    if (taskIds.size > 0) {
      for (const id of taskIds) {
        void stale('timeline', id)
        void stale('task', id)
      }
      void stale('projects')
      void stale('lists')
      const present = await refreshRows(
        cache,
        Math.min(...entries.map(({ createdAt }) => Date.parse(createdAt))),
      )
      // What was told late may have been taken back meanwhile: only what is really gone goes.
      const gone = about('task.deleted').flatMap(({ taskId }) => taskId ?? [])
      dropTasks(
        cache,
        gone.filter((id) => !present.has(id)),
      )
    }
    if (about('rule.').length > 0) void Promise.all([stale('rules'), stale('context')])
    if (about('key.').length > 0) void stale('keys')
    if (about('feedback.').length > 0) void stale('events')
    if (about('sync.').length > 0) void Promise.all([stale('syncs'), stale('connection'), stale('projects')])
    if (about('project.').length + about('list.').length > 0) {
      void Promise.all([stale('projects'), stale('lists')])
    }
  }

  return {
    take,
    /** After a silence of unknown length. */
    async catchUp(lostAt: number) {
      const since = Math.min(lostAt, Date.now())
      void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'tasks' })
      const present = await refreshRows(cache, since)
      await dropDeleted(cache, since, present)
    },
    stop: () => clearTimeout(timer),
  }
}

/** One question for all rows that changed since, however many are on the page; answers which those are. */
async function refreshRows(cache: QueryClient, since: number): Promise<Set<string>> {
  const updatedSince = new Date(since - OVERLAP_MS).toISOString()
  try {
    const { data } = await answerOf(
      api.GET('/api/tasks', {
        params: { query: { updatedSince, sort: '-updatedAt', fields: 'summary', limit: 200 } },
      }),
    )
    replaceTasks(cache, data)
    return new Set(data.map(({ id }) => id))
  } catch {
    // The rows stay as they were; the next change or a reload tells.
    return new Set()
  }
}

/** A stream that broke before its first entry repeats nothing: what was deleted has to be asked for. */
async function dropDeleted(cache: QueryClient, since: number, restored: Set<string>) {
  const deletedSince = new Date(since - OVERLAP_MS).toISOString()
  try {
    const { data } = await answerOf(
      api.GET('/api/activity', {
        params: { query: { type: ['task.deleted'], since: deletedSince, limit: 200 } },
      }),
    )
    const gone = data.flatMap(({ taskId }) => taskId ?? []).filter((id) => !restored.has(id))
    dropTasks(cache, gone)
  } catch {
    // As with the rows.
  }
}
