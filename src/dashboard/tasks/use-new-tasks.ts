import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useRef, useState } from 'react'
import { pageOfTasks, type TaskFilters, type TaskListItem } from '../api/queries.ts'
import { useLiveEvents } from '../live/live.tsx'
import { putOnTop } from './task-cache.ts'

const GATHER_MS = 400
const AT_TOP_PX = 8

/**
 * What came in since the list was opened: at the top of the list it appears, further down it waits to be asked
 * for, so that nothing moves under the pointer.
 */
export function useNewTasks(filters: TaskFilters, scroller: RefObject<HTMLElement | null>) {
  const cache = useQueryClient()
  const [waiting, setWaiting] = useState<TaskListItem[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isNewestFirst = (filters.sort ?? '-createdAt') === '-createdAt'

  const put = useCallback(
    (tasks: TaskListItem[]) => {
      setWaiting([])
      if (tasks.length >= 50 || !isNewestFirst) void cache.resetQueries({ queryKey: ['tasks', filters] })
      else putOnTop(cache, filters, tasks)
    },
    [cache, filters, isNewestFirst],
  )

  const look = useCallback(async () => {
    timer.current = undefined
    const page = await pageOfTasks({ ...filters, sort: '-createdAt' }, undefined, 50).catch(() => undefined)
    const held = cache.getQueryData<{ pages: { data: TaskListItem[] }[] }>(['tasks', filters])
    if (!page || !held) return
    const rows = held.pages.flatMap(({ data }) => data)
    const known = new Set(rows.map(({ id }) => id))
    const fresh = page.data.filter(({ id }) => !known.has(id))
    // Older than what is shown are those that only now pass the filter; they come with the next reload.
    const newest = rows.reduce((latest, { id }) => (id > latest ? id : latest), '')
    const arrived = fresh.filter(({ id }) => id > newest)
    const isAtTop = (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
    if (isAtTop && isNewestFirst) put(arrived)
    else setWaiting(arrived)
  }, [cache, filters, isNewestFirst, put, scroller])

  useLiveEvents((events) => {
    const isRelevant = events.length === 0 || events.some(({ type }) => isArrival(type))
    if (isRelevant) timer.current ??= setTimeout(() => void look(), GATHER_MS)
  })

  return {
    count: waiting.length,
    show() {
      scroller.current?.scrollTo({ top: 0 })
      put(waiting)
    },
  }
}

const isArrival = (type: string) =>
  ['task.created', 'task.restored', 'feedback.received', 'sync.finished'].includes(type)
