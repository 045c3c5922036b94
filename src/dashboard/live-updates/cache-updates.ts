import type { QueryClient } from '@tanstack/react-query'
import { invalidate as invalidateQuery } from '../api/invalidate.ts'
import { type Activity, cursorParam, fetchAllPages, fetchTaskPage, taskQuery } from '../api/queries.ts'
import { dependentsOf } from '../api/task-cache.ts'
import { recordsOf } from '../api/task-records.ts'
import { createThrottle } from '../lib/throttle.ts'
import type { LiveEvent } from './event-source.ts'
import { OVERLAP_MS } from './missed-activity.ts'
import { rowChangeOf } from './row-change.ts'

/** Changes come in bursts, such as a sync or a bulk import; one refresh handles a whole burst. */
const BATCH_DELAY_MS = 250
/** Bounds the requests during continuous changes, which count against the key's rate limit. */
const MIN_INTERVAL_MS = 2_000
const COUNTS_INTERVAL_MS = 5_000
/** The service stores each second when something succeeded last. */
const STATUS_DELAY_MS = 2_000
/** Counting takes the service up to a second. */
const FILTER_COUNTS_INTERVAL_MS = 20_000
/** A failed refresh is retried together with newer changes. */
const RETRY_MS = 5_000
/** Above this many pages of changed rows, the shown pages are reloaded instead. */
const MAX_PAGES = 2

/** Of a burst; the others are shown as they were until their list is loaded again. */
const MAX_DEPENDENTS = 20

const isComment = ({ type }: Activity) => type.startsWith('comment.')

const isReport = ({ type }: Activity) => type.startsWith('task.report_')

/** Whether a row has to be requested: comments and reports change nothing of a task but a count that their activity has. */
const isTaskChange = (activity: Activity): activity is Activity & { taskId: string } =>
  activity.taskId !== null && !isComment(activity) && !isReport(activity)

/** Events without an activity. */
const CONFIGURATION_EVENTS = ['project.changed', 'routing.changed']

/** Applies events of the stream to the query cache. */
export function createCacheUpdater(queryClient: QueryClient) {
  const records = recordsOf(queryClient)
  let pending: Activity[] = []
  let isStopped = false
  /** Changes that are not in the cache yet: the earliest time of a change, and the tasks reported as deleted. */
  let unresolved: { since: number; deletedIds: string[] } | undefined

  const invalidate = (...queryKey: unknown[]) => invalidateQuery(queryClient, { queryKey })

  const updates = createThrottle(
    () => {
      const activities = pending
      pending = []
      return applyActivities(activities)
    },
    { delayMs: BATCH_DELAY_MS, intervalMs: MIN_INTERVAL_MS },
  )
  // The context for assistants also contains counts and the latest tasks.
  const countUpdates = createThrottle(
    () => Promise.all([invalidate('projects'), invalidate('lists'), invalidate('context')]),
    {
      delayMs: 0,
      intervalMs: COUNTS_INTERVAL_MS,
    },
  )

  const totalUpdates = createThrottle(() => invalidate('tasks-total'), {
    delayMs: 0,
    intervalMs: COUNTS_INTERVAL_MS,
  })

  const statusUpdates = createThrottle(() => invalidate('status'), {
    delayMs: STATUS_DELAY_MS,
    intervalMs: COUNTS_INTERVAL_MS,
  })

  const notificationUpdates = createThrottle(() => invalidate('notifications'), {
    delayMs: BATCH_DELAY_MS,
    intervalMs: MIN_INTERVAL_MS,
  })

  const filterCountUpdates = createThrottle(() => invalidate('saved-filters'), {
    delayMs: BATCH_DELAY_MS,
    intervalMs: FILTER_COUNTS_INTERVAL_MS,
  })

  const configurationUpdates = createThrottle(
    () =>
      Promise.all([
        invalidate('projects'),
        invalidate('lists'),
        invalidate('connection'),
        invalidate('routing'),
      ]),
    { delayMs: BATCH_DELAY_MS, intervalMs: MIN_INTERVAL_MS },
  )

  function applyEvents(events: LiveEvent[]) {
    // Immediately, so that a list opened next is not considered fresh.
    void queryClient.invalidateQueries({ queryKey: ['tasks'], type: 'inactive', refetchType: 'none' })
    for (const { id, data } of events) {
      if (id === null) continue
      const activity = data as Activity
      pending.push(activity)
      showChange(activity)
    }
    // The database was restored or replaced.
    if (events.some(({ type }) => type === 'stream.reset')) void invalidateQuery(queryClient)
    if (events.some(({ type }) => CONFIGURATION_EVENTS.includes(type))) configurationUpdates.schedule()
    if (events.some(({ type }) => type === 'notification.changed')) notificationUpdates.schedule()
    updates.schedule()
  }

  /** At once, without a request; the request for changed rows follows. */
  function showChange({ taskId, createdAt, ...activity }: Activity) {
    const change = rowChangeOf(activity)
    if (taskId && Object.keys(change).length > 0) records.report({ id: taskId, changedAt: createdAt, change })
  }

  async function applyActivities(activities: Activity[]) {
    const includesType = (...prefixes: string[]) =>
      activities.some(({ type }) => prefixes.some((prefix) => type.startsWith(prefix)))
    const taskActivities = activities.filter(isTaskChange)

    for (const id of new Set(activities.flatMap(({ taskId }) => taskId ?? []))) {
      void invalidate('timeline', id)
      void invalidate('task', id)
    }
    for (const id of new Set(activities.filter(isComment).flatMap(({ taskId }) => taskId ?? [])))
      void invalidate('comments', id)
    // New tasks are in no list yet.
    const changedRows = taskActivities.filter(({ type }) => type !== 'task.created')
    if (changedRows.length > 0) {
      addUnresolved({
        since: Math.min(...changedRows.map(({ createdAt }) => Date.parse(createdAt))),
        deletedIds: changedRows.flatMap(({ type, taskId }) => (type === 'task.deleted' ? taskId : [])),
      })
    }
    if (taskActivities.length > 0 || includesType('sync.')) countUpdates.schedule()
    // Whoever comments triages a task.
    if (taskActivities.length > 0 || includesType('sync.', 'comment.created', 'project.'))
      totalUpdates.schedule()
    // Those of archived projects do not count.
    if (taskActivities.length > 0 || includesType('project.')) filterCountUpdates.schedule()
    if (includesType('task.deleted', 'task.restored')) void invalidate('trash')
    void refreshDependents(new Set(taskActivities.map(({ taskId }) => taskId)))
    if (includesType('rule.'))
      void Promise.all([invalidate('rules'), invalidate('rule-versions'), invalidate('context')])
    if (includesType('key.')) void Promise.all([invalidate('keys'), invalidate('webhook-secrets')])
    if (includesType('pipe.')) void invalidate('status')
    if (includesType('feedback.')) void invalidate('deliveries')
    if (includesType('person.', 'invite.')) void Promise.all([invalidate('users'), invalidate('invites')])
    if (includesType('session.')) void invalidate('sessions')
    if (includesType('project.', 'list.', 'connection.', 'routing.')) configurationUpdates.schedule()
    if (includesType('sync.')) void Promise.all([invalidate('syncs'), invalidate('connection')])
    if (includesType('sync.')) statusUpdates.schedule()
    await resolveRows()
  }

  /** Whether these are ready follows from other tasks: it changes without a version of them. */
  async function refreshDependents(ids: ReadonlySet<string>) {
    for (const id of dependentsOf(queryClient, ids).slice(0, MAX_DEPENDENTS))
      await queryClient.prefetchQuery({ ...taskQuery(id), staleTime: 0 })
  }

  function addUnresolved({ since, deletedIds }: { since: number; deletedIds: string[] }) {
    unresolved = {
      since: Math.min(since, unresolved?.since ?? Number.POSITIVE_INFINITY),
      deletedIds: [...deletedIds, ...(unresolved?.deletedIds ?? [])],
    }
  }

  async function resolveRows() {
    const current = unresolved
    if (!current) return
    unresolved = undefined
    const remove = records.removal()
    try {
      const presentIds = await refreshRows(queryClient, current.since)
      // A deletion may have been undone since: remove only tasks that the service no longer returns.
      if (!presentIds || isStopped) return
      remove(current.deletedIds.filter((id) => !presentIds.has(id)))
    } catch {
      addUnresolved(current)
      updates.schedule(RETRY_MS)
    }
  }

  return {
    applyEvents,
    stop() {
      isStopped = true
      updates.stop()
      countUpdates.stop()
      totalUpdates.stop()
      statusUpdates.stop()
      notificationUpdates.stop()
      filterCountUpdates.stop()
      configurationUpdates.stop()
    },
  }
}

/**
 * Fetches all rows changed since a time with one query. Returns their ids, or undefined when there were too many and the
 * shown pages were reloaded.
 * @throws Problem
 */
async function refreshRows(queryClient: QueryClient, since: number): Promise<Set<string> | undefined> {
  const receive = recordsOf(queryClient).request()
  const updatedSince = new Date(since - OVERLAP_MS).toISOString()
  const rows = await fetchAllPages(
    (cursor) => fetchTaskPage({ updatedSince, sort: '-updatedAt', limit: 200, ...cursorParam(cursor) }),
    MAX_PAGES,
  )
  if (!rows) {
    await queryClient.invalidateQueries({ queryKey: ['tasks'] })
    return undefined
  }
  receive(rows)
  return new Set(rows.map(({ id }) => id))
}
