import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { Activity, TaskFilters, TaskListItem } from '../../api/queries.ts'
import { DEFAULT_SORT, fetchTaskPage } from '../../api/queries.ts'
import { insertTasks, isInLoadedRange, type Page } from '../../api/task-cache.ts'
import { createThrottle, type Throttle } from '../../lib/throttle.ts'
import type { LiveEvent } from '../../live-updates/event-source.ts'
import { useLiveEvents } from '../../live-updates/live-updates.tsx'
import { OVERLAP_MS } from '../../live-updates/missed-activity.ts'

const BATCH_DELAY_MS = 400
/** Bounds the requests while tasks keep coming. */
const MIN_INTERVAL_MS = 2_000
const RETRY_MS = 5_000
const AT_TOP_PX = 8
const MAX_INSERTED = 50

/** The next request: new tasks, and tasks changed since a time that may match now. */
interface PendingCheck {
  arrivals: boolean
  changedSince: number
}

const NO_CHECK: PendingCheck = { arrivals: false, changedSince: Number.POSITIVE_INFINITY }

/**
 * Tasks that entered the list since it was opened. At the top of the list they are inserted; further down they wait
 * for a click, so that rows do not move under the pointer.
 */
export function useNewTasks(filters: TaskFilters, scroller: RefObject<HTMLElement | null>) {
  const queryClient = useQueryClient()
  const [pendingTasks, setPendingTasks] = useState<TaskListItem[]>([])
  const latest = useRef(pendingTasks)
  latest.current = pendingTasks
  const pendingCheck = useRef(NO_CHECK)
  const throttle = useRef<Throttle>(undefined)
  const isNewestFirst = (filters.sort ?? DEFAULT_SORT) === DEFAULT_SORT

  const insert = useCallback(
    (tasks: TaskListItem[]) => {
      setPendingTasks([])
      if (tasks.length >= MAX_INSERTED || !isNewestFirst)
        void queryClient.resetQueries({ queryKey: ['tasks', filters] })
      else insertTasks(queryClient, { filters, tasks })
    },
    [queryClient, filters, isNewestFirst],
  )

  const check = useCallback(async () => {
    const requested = pendingCheck.current
    pendingCheck.current = NO_CHECK
    const found = await fetchTasks(requested, filters).catch(() => undefined)
    if (!found) {
      pendingCheck.current = mergeChecks(requested, pendingCheck.current)
      return throttle.current?.schedule(RETRY_MS)
    }
    const pages = pagesOf(queryClient, filters)
    if (!pages) return
    const listedIds = idsIn(pages)
    const candidates = new Map([...latest.current, ...found].map((task) => [task.id, task]))
    const arrived = [...candidates.values()].filter(
      (task) => !listedIds.has(task.id) && isInLoadedRange(task, { pages, filters }),
    )
    if (arrived.length === 0) return setPendingTasks([])
    const isAtTop = (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
    if (isAtTop && isNewestFirst) insert(arrived)
    else setPendingTasks(arrived)
  }, [queryClient, filters, isNewestFirst, insert, scroller])

  useEffect(() => {
    const own = createThrottle(check, { delayMs: BATCH_DELAY_MS, intervalMs: MIN_INTERVAL_MS })
    throttle.current = own
    return own.stop
  }, [check])

  useLiveEvents((events) => {
    const deletedIds = new Set(
      events.flatMap((event) => (event.type === 'task.deleted' ? taskIdOf(event) : [])),
    )
    if (deletedIds.size > 0) setPendingTasks((tasks) => tasks.filter(({ id }) => !deletedIds.has(id)))
    const listedIds = idsIn(pagesOf(queryClient, filters) ?? [])
    const others = events.filter(
      (event) => isChange(event.type) && taskIdOf(event).some((id) => !listedIds.has(id)),
    )
    const requested = {
      arrivals: events.some(({ type }) => isArrival(type)),
      changedSince: Math.min(...others.map(({ data }) => Date.parse((data as Activity).createdAt))),
    }
    if (!requested.arrivals && others.length === 0) return
    pendingCheck.current = mergeChecks(requested, pendingCheck.current)
    throttle.current?.schedule()
  })

  return {
    count: pendingTasks.length,
    show() {
      scroller.current?.scrollTo({ top: 0 })
      insert(pendingTasks)
    },
  }
}

async function fetchTasks(
  { arrivals, changedSince }: PendingCheck,
  filters: TaskFilters,
): Promise<TaskListItem[]> {
  const pages = await Promise.all([
    arrivals ? fetchTaskPage({ ...filters, sort: '-createdAt', limit: MAX_INSERTED }) : undefined,
    changedSince < Number.POSITIVE_INFINITY
      ? fetchTaskPage({
          ...filters,
          sort: '-updatedAt',
          updatedSince: new Date(changedSince - OVERLAP_MS).toISOString(),
          limit: 200,
        })
      : undefined,
  ])
  return pages.flatMap((page) => page?.data ?? [])
}

const mergeChecks = (one: PendingCheck, other: PendingCheck): PendingCheck => ({
  arrivals: one.arrivals || other.arrivals,
  changedSince: Math.min(one.changedSince, other.changedSince),
})

const pagesOf = (queryClient: QueryClient, filters: TaskFilters) =>
  queryClient.getQueryData<{ pages: Page[] }>(['tasks', filters])?.pages

const idsIn = (pages: Page[]) => new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))

/** The task id of an event, as an array for flatMap. */
const taskIdOf = ({ data }: LiveEvent): string[] => [(data as Activity).taskId ?? []].flat()

const isArrival = (type: string) => ['task.created', 'feedback.received', 'sync.finished'].includes(type)
const isChange = (type: string) =>
  ['task.restored', 'task.updated', 'task.completed', 'task.reopened'].includes(type)
