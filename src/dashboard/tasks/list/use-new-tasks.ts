import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { Activity, TaskFilters, TaskListItem } from '../../api/queries.ts'
import { pageOfTasks } from '../../api/queries.ts'
import { isWithin, type Page, putInPlace } from '../../api/task-cache.ts'
import { type Throttled, throttled } from '../../lib/throttle.ts'
import type { LiveEvent } from '../../live-updates/event-source.ts'
import { useLiveEvents } from '../../live-updates/live-updates.tsx'
import { OVERLAP_MS } from '../../live-updates/missed-activity.ts'

const GATHER_MS = 400
/** A stream of arrivals is looked at so often at most. */
const APART_MS = 2_000
const RETRY_MS = 5_000
const AT_TOP_PX = 8
const MAX_INSERTED = 50

/** What there is to ask: what is new, and what changed since a time and may only now belong here. */
interface Question {
  arrivals: boolean
  changedSince: number
}

const NOTHING: Question = { arrivals: false, changedSince: Number.POSITIVE_INFINITY }

/**
 * What came into the list since it was opened, be it new, restored, moved or only now what the filters ask for: at
 * the top of the list it appears, further down it waits to be asked for, so that nothing moves under the pointer.
 */
export function useNewTasks(filters: TaskFilters, scroller: RefObject<HTMLElement | null>) {
  const cache = useQueryClient()
  const [waiting, setWaiting] = useState<TaskListItem[]>([])
  const latest = useRef(waiting)
  latest.current = waiting
  const question = useRef(NOTHING)
  const looks = useRef<Throttled>(undefined)
  const isNewestFirst = (filters.sort ?? '-createdAt') === '-createdAt'

  const put = useCallback(
    (tasks: TaskListItem[]) => {
      setWaiting([])
      if (tasks.length >= MAX_INSERTED || !isNewestFirst)
        void cache.resetQueries({ queryKey: ['tasks', filters] })
      else putInPlace(cache, filters, tasks)
    },
    [cache, filters, isNewestFirst],
  )

  const look = useCallback(async () => {
    const asked = question.current
    question.current = NOTHING
    const found = await tasksFor(asked, filters).catch(() => undefined)
    if (!found) {
      question.current = both(asked, question.current)
      return looks.current?.ask(RETRY_MS)
    }
    const pages = pagesOf(cache, filters)
    if (!pages) return
    const known = idsIn(pages)
    const fresh = new Map([...latest.current, ...found].map((task) => [task.id, task]))
    const arrived = [...fresh.values()].filter(
      (task) => !known.has(task.id) && isWithin(pages, filters, task),
    )
    if (arrived.length === 0) return setWaiting([])
    const isAtTop = (scroller.current?.scrollTop ?? 0) <= AT_TOP_PX
    if (isAtTop && isNewestFirst) put(arrived)
    else setWaiting(arrived)
  }, [cache, filters, isNewestFirst, put, scroller])

  useEffect(() => {
    const own = throttled(look, { delayMs: GATHER_MS, intervalMs: APART_MS })
    looks.current = own
    return own.stop
  }, [look])

  useLiveEvents((events) => {
    const gone = new Set(events.flatMap((event) => (event.type === 'task.deleted' ? taskOf(event) : [])))
    if (gone.size > 0) setWaiting((tasks) => tasks.filter(({ id }) => !gone.has(id)))
    const held = idsIn(pagesOf(cache, filters) ?? [])
    const others = events.filter((event) => isChange(event.type) && taskOf(event).some((id) => !held.has(id)))
    const asked = {
      arrivals: events.some(({ type }) => isArrival(type)),
      changedSince: Math.min(...others.map(({ data }) => Date.parse((data as Activity).createdAt))),
    }
    if (!asked.arrivals && others.length === 0) return
    question.current = both(asked, question.current)
    looks.current?.ask()
  })

  return {
    count: waiting.length,
    show() {
      scroller.current?.scrollTo({ top: 0 })
      put(waiting)
    },
  }
}

async function tasksFor({ arrivals, changedSince }: Question, filters: TaskFilters): Promise<TaskListItem[]> {
  const pages = await Promise.all([
    arrivals ? pageOfTasks({ ...filters, sort: '-createdAt', limit: MAX_INSERTED }) : undefined,
    changedSince < Number.POSITIVE_INFINITY
      ? pageOfTasks({
          ...filters,
          sort: '-updatedAt',
          updatedSince: new Date(changedSince - OVERLAP_MS).toISOString(),
          limit: 200,
        })
      : undefined,
  ])
  return pages.flatMap((page) => page?.data ?? [])
}

const both = (one: Question, other: Question): Question => ({
  arrivals: one.arrivals || other.arrivals,
  changedSince: Math.min(one.changedSince, other.changedSince),
})

const pagesOf = (cache: QueryClient, filters: TaskFilters) =>
  cache.getQueryData<{ pages: Page[] }>(['tasks', filters])?.pages

const idsIn = (pages: Page[]) => new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))

/** The task an event is about, as a list of at most one. */
const taskOf = ({ data }: LiveEvent): string[] => [(data as Activity).taskId ?? []].flat()

const isArrival = (type: string) => ['task.created', 'feedback.received', 'sync.finished'].includes(type)
const isChange = (type: string) =>
  ['task.restored', 'task.updated', 'task.completed', 'task.reopened'].includes(type)
