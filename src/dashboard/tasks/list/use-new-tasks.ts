import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { invalidate } from '../../api/invalidate.ts'
import { isTransient, problemOf } from '../../api/problem.ts'
import type { Activity, TaskFilters, TaskIdPage } from '../../api/queries.ts'
import { DEFAULT_SORT } from '../../api/queries.ts'
import { pagesOf } from '../../api/task-cache.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { createThrottle, type Throttle } from '../../lib/throttle.ts'
import type { LiveEvent } from '../../live-updates/event-source.ts'
import { useLiveEvents } from '../../live-updates/live-updates.tsx'
import { isPrincipal, type Me, useMe } from '../../session/session.ts'
import { canLeave } from '../filters.ts'
import { type ListCheck, listEffect, mergeChecks, NO_CHECK } from './list-effect.ts'

const BATCH_DELAY_MS = 400
/** Bounds the requests while tasks keep coming. */
const MIN_INTERVAL_MS = 2_000
const RETRY_MS = 5_000
const AT_TOP_PX = 8
const MAX_INSERTED = 50

const NO_IDS: string[] = []

/** The first page needs none of it. */
const load = preloadModule(() => import('./check-list.ts'))

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
  const isByTime = [DEFAULT_SORT, 'createdAt'].includes(filters.sort ?? DEFAULT_SORT)

  const insert = useCallback(
    (ids: string[]) => {
      setPendingIds(NO_IDS)
      if (ids.length >= MAX_INSERTED || !isByTime)
        void queryClient.resetQueries({ queryKey: ['tasks', filters] })
      else void load().then(({ insertTasks }) => insertTasks(queryClient, { filters, ids }))
    },
    [queryClient, filters, isByTime],
  )

  const check = useCallback(async () => {
    const requested = pendingCheck.current
    pendingCheck.current = NO_CHECK
    const pages = pagesOf(queryClient, filters)
    if (!pages) return
    const list = { queryClient, filters, pages, ownIds: ownIds.current, pendingIds: latest.current }
    try {
      const { updateList } = await load()
      const arrived = await updateList(requested, list)
      // IDs are in the order of creation.
      const last = pagesOf(queryClient, filters)?.at(-1)?.ids.at(-1) ?? ''
      const isAtEnd = (ids: string[]) => filters.sort === 'createdAt' && ids.every((id) => id > last)
      const isAtTop = (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
      if (arrived.length > 0 && isByTime && (isAtTop || isAtEnd(arrived))) insert(arrived)
      else setPendingIds(arrived)
    } catch (error) {
      // Loading it says what is wrong.
      if (!isTransient(problemOf(error))) return invalidate(queryClient, { queryKey: ['tasks', filters] })
      pendingCheck.current = mergeChecks(requested, pendingCheck.current)
      throttle.current?.schedule(RETRY_MS)
    }
  }, [queryClient, filters, isByTime, insert, scroller])

  useEffect(() => {
    const own = createThrottle(check, { delayMs: BATCH_DELAY_MS, intervalMs: MIN_INTERVAL_MS })
    throttle.current = own
    return own.stop
  }, [check])

  const isAtTop = () => (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX

  useLiveEvents((events) => {
    // Of very many changes, the first page has all that is seen.
    if (events.some(({ type }) => type === 'stream.burst') && isAtTop())
      return void invalidate(queryClient, { queryKey: ['tasks', filters] })
    const deletedIds = new Set(
      events.flatMap((event) => (event.type === 'task.deleted' ? taskIdOf(event) : [])),
    )
    if (deletedIds.size > 0) setPendingIds((ids) => ids.filter((id) => !deletedIds.has(id)))
    const listed = idsIn(pagesOf(queryClient, filters) ?? [])
    const mayLeave = canLeave(filters)
    let requested = NO_CHECK
    for (const event of events) {
      const effect = listEffect({ type: event.type, actor: activityOf(event).actor }, filters)
      if (effect === 'none') continue
      const [id] = taskIdOf(event)
      if (id && isOwn(event, me)) ownIds.current.add(id)
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

const idsIn = (pages: TaskIdPage[]) => new Set(pages.flatMap(({ ids }) => ids))

/** The task id of an event, as an array for flatMap. */
const taskIdOf = (event: LiveEvent): string[] => [activityOf(event).taskId ?? []].flat()

/** Some events are none. */
const activityOf = ({ data }: LiveEvent) => data as Partial<Activity>

const isOwn = ({ data }: LiveEvent, me: Me | null) => {
  const { actor } = data as Activity
  return me !== null && isPrincipal(me, actor)
}
