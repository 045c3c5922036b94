import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { invalidate } from '../../api/invalidate.ts'
import { isTransient, Problem, problemOf } from '../../api/problem.ts'
import type { Activity, TaskFilters, TaskIdPage } from '../../api/queries.ts'
import { DEFAULT_SORT } from '../../api/queries.ts'
import { dropTasks, insertTasks, isInLoadedRange } from '../../api/task-cache.ts'
import { recordsOf } from '../../api/task-records.ts'
import { createThrottle, type Throttle } from '../../lib/throttle.ts'
import type { LiveEvent } from '../../live-updates/event-source.ts'
import { useLiveEvents } from '../../live-updates/live-updates.tsx'
import { useMe } from '../../session/session.ts'
import { canLeave } from '../filters.ts'
import { checkList, type ListCheck, mergeChecks, NO_CHECK } from './check-list.ts'
import { listEffect } from './list-effect.ts'

const BATCH_DELAY_MS = 400
/** Bounds the requests while tasks keep coming. */
const MIN_INTERVAL_MS = 2_000
const RETRY_MS = 5_000
const AT_TOP_PX = 8
const MAX_INSERTED = 50

const NO_IDS: string[] = []

/**
 * Keeps the tasks of a list those that match. Tasks that others have changed leave it, unless they are done. At the top of
 * the list new ones are inserted; further down they wait for a click, so that rows do not move under the pointer.
 */
export function useNewTasks(filters: TaskFilters, scroller: RefObject<HTMLElement | null>) {
  const queryClient = useQueryClient()
  const { me } = useMe()
  const [pendingIds, setPendingIds] = useState(NO_IDS)
  const latest = useRef(pendingIds)
  latest.current = pendingIds
  const pendingCheck = useRef(NO_CHECK)
  /** What the user has changed stays where it is. */
  const ownIds = useRef(new Set<string>())
  const throttle = useRef<Throttle>(undefined)
  const isNewestFirst = (filters.sort ?? DEFAULT_SORT) === DEFAULT_SORT

  const insert = useCallback(
    (ids: string[]) => {
      setPendingIds(NO_IDS)
      if (ids.length >= MAX_INSERTED || !isNewestFirst)
        void queryClient.resetQueries({ queryKey: ['tasks', filters] })
      else insertTasks(queryClient, { filters, ids })
    },
    [queryClient, filters, isNewestFirst],
  )

  const check = useCallback(async () => {
    const requested = pendingCheck.current
    pendingCheck.current = NO_CHECK
    const pages = pagesOf(queryClient, filters)
    if (!pages) return
    const result = await checkList(requested, { queryClient, filters, pages }).catch(problemOf)
    if (result instanceof Problem && isTransient(result)) {
      pendingCheck.current = mergeChecks(requested, pendingCheck.current)
      return throttle.current?.schedule(RETRY_MS)
    }
    // Loading it says what is wrong.
    if (result === 'too-long' || result instanceof Problem)
      return void invalidate(queryClient, { queryKey: ['tasks', filters] })
    const records = recordsOf(queryClient)
    const isFaded = (id: string) => records.row(id)?.status === 'done' && canFade(filters)
    const leaving = result.gone.filter((id) => !ownIds.current.has(id) && !isFaded(id))
    if (leaving.length > 0) dropTasks(queryClient, { filters, ids: leaving })
    const current = pagesOf(queryClient, filters)
    if (!current) return
    const listed = idsIn(current)
    const gone = new Set(result.gone)
    const candidates = new Set([...latest.current.filter((id) => !gone.has(id)), ...result.found])
    const arrived = [...candidates].filter((id) => {
      const task = records.row(id)
      return task && !listed.has(id) && isInLoadedRange(task, { records, pages: current, filters })
    })
    if (arrived.length === 0) return setPendingIds(NO_IDS)
    const isAtTop = (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
    if (isAtTop && isNewestFirst) insert(arrived)
    else setPendingIds(arrived)
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
    if (deletedIds.size > 0) setPendingIds((ids) => ids.filter((id) => !deletedIds.has(id)))
    const listed = idsIn(pagesOf(queryClient, filters) ?? [])
    const mayLeave = canLeave(filters)
    let requested = NO_CHECK
    for (const event of events) {
      const effect = listEffect(event.type, filters)
      if (effect === 'none') continue
      const [id] = taskIdOf(event)
      if (id && isOwn(event, me?.keyId)) ownIds.current.add(id)
      else if (id) ownIds.current.delete(id)
      if (effect === 'change' && id && listed.has(id) && !mayLeave) continue
      requested = mergeChecks(requested, checkFor(event, effect))
    }
    if (requested === NO_CHECK) return
    pendingCheck.current = mergeChecks(requested, pendingCheck.current)
    throttle.current?.schedule()
  })

  return {
    count: pendingIds.length,
    show() {
      scroller.current?.scrollTo({ top: 0 })
      insert(pendingIds)
    },
  }
}

const checkFor = (event: LiveEvent, effect: 'arrival' | 'change' | 'any'): ListCheck => ({
  arrivals: effect === 'arrival',
  all: effect === 'any',
  changedIds: effect === 'change' ? taskIdOf(event) : [],
  changedSince:
    effect === 'change' ? Date.parse((event.data as Activity).createdAt) : Number.POSITIVE_INFINITY,
})

/** Whether done tasks do not match, and are shown all the same until the list is loaded again. */
const canFade = ({ status }: TaskFilters) => status !== undefined && !status.includes('done')

const pagesOf = (queryClient: QueryClient, filters: TaskFilters) =>
  queryClient.getQueryData<{ pages: TaskIdPage[] }>(['tasks', filters])?.pages

const idsIn = (pages: TaskIdPage[]) => new Set(pages.flatMap(({ ids }) => ids))

/** The task id of an event, as an array for flatMap. */
const taskIdOf = ({ data }: LiveEvent): string[] => [(data as Partial<Activity>).taskId ?? []].flat()

const isOwn = ({ data }: LiveEvent, keyId: string | undefined) => {
  const { actor } = data as Activity
  return actor.type === 'session' && actor.id === keyId
}
