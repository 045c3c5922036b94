import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import {
  defaultRangeExtractor,
  elementScroll,
  type Range,
  type Rect,
  useVirtualizer,
  type Virtualizer,
} from '@tanstack/react-virtual'
import { Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import {
  itemsOf,
  type Project,
  projectsQuery,
  type TaskFilters,
  type TaskListItem,
  tasksQuery,
} from '../../api/queries.ts'
import { leaveTasks } from '../../api/task-cache.ts'
import { preload } from '../../components/lazy.tsx'
import { NotLoaded } from '../../components/load-error.tsx'
import { plural } from '../../lib/plural.ts'
import { useMe } from '../../session/session.ts'
import { useTaskActions } from '../edits/use-task-actions.ts'
import styles from './task-list.module.css'
import { Waiting } from './task-list-loading.tsx'
import { TaskRow } from './task-row.tsx'
import { useListKeys } from './use-list-shortcuts.ts'
import { useNewTasks } from './use-new-tasks.ts'
import { useRowFocus } from './use-row-focus.ts'
import { useSelection } from './use-selection.ts'

const NoTasks = preload(() => import('./no-tasks.tsx'))
const SelectionBar = preload(() => import('./selection-bar.tsx'))

const ROW_PX = 40
const TOUCH_ROW_PX = 48
/** The heading and the filters, about. */
const ABOVE_PX = 110
/** So many rows before the end the next page is asked for. */
const LOOKAHEAD = 80

const NONE: TaskListItem[] = []

interface TaskListProps {
  filters: TaskFilters
  openId: string | undefined
}

/** Rows for however many tasks there are; the page holds those in sight and a few around them. */
export function TaskList({ filters, openId }: TaskListProps) {
  const navigate = useNavigate()
  const searchStr = useLocation({ select: (location) => location.searchStr })
  const { can } = useMe()
  const cache = useQueryClient()
  const query = useInfiniteQuery(tasksQuery(filters))
  useEffect(() => () => void leaveTasks(cache, filters), [cache, filters])
  const held = useMemo(() => itemsOf(query.data), [query.data])
  // Many rows at once are drawn in small pieces; what somebody does meanwhile goes first.
  const rows = useDeferredValue(held, NONE)
  const scroller = useRef<HTMLElement>(null)
  const rowHeight = useMemo(() => (matchMedia('(pointer: coarse)').matches ? TOUCH_ROW_PX : ROW_PX), [])
  const [focusedId, setFocusedId] = useState<string>()
  const focusedAt = useMemo(() => rows.findIndex(({ id }) => id === focusedId), [rows, focusedId])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    // Until it is measured: so that the rows come with the first drawing, not with a second one in one go.
    initialRect: { width: innerWidth, height: innerHeight - ABOVE_PX },
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: useDeferredValue(12, 2),
    observeElementRect: whenSized,
    scrollToFn: scrollUnlessAtTop,
    // What has the focus stays on the page, wherever that is scrolled to.
    rangeExtractor: useCallback((range: Range) => rangeWith(focusedAt, range), [focusedAt]),
  })
  const focusRow = useRowFocus({ scroller, focusedAt })
  const selection = useSelection(rows)
  const actions = useTaskActions()
  const news = useNewTasks(filters, scroller)
  const { data: projectNames } = useQuery({ ...projectsQuery, select: namesById })
  const showsProject = filters.projectId === undefined && (projectNames?.size ?? 0) > 1

  const open = useCallback(
    (taskId: string) =>
      navigate({ to: '/tasks/$taskId', params: { taskId }, search: true, replace: Boolean(openId) }),
    [navigate, openId],
  )
  useListKeys({
    rows,
    focusedId,
    selection,
    actions,
    openId,
    mayWrite: can('tasks:write'),
    onOpen: open,
    onFocus(id, index) {
      setFocusedId(id)
      focusRow(id)
      virtual.scrollToIndex(index)
      if (openId) open(id)
    },
    onClose: () => navigate({ to: '/tasks', search: true }),
  })

  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  useEffect(() => {
    if (!hasNextPage || isFetchingNextPage || isFetchNextPageError) return
    // Not before somebody scrolls: the first page is more than a window holds.
    if (lastShown >= rows.length - Math.min(LOOKAHEAD, rows.length / 4)) void fetchNextPage()
  }, [lastShown, rows.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])

  const waiting = <Waiting query={query} queryKey={tasksQuery(filters).queryKey} />
  if (query.isPending || (rows.length === 0 && held.length > 0)) return waiting
  if (query.isError && rows.length === 0) return <NotLoaded what="The tasks" query={query} />
  if (rows.length === 0 && news.count === 0) {
    return (
      <Suspense fallback={waiting}>
        <NoTasks filters={filters} />
      </Suspense>
    )
  }

  return (
    <>
      {news.count > 0 && (
        <button type="button" className={styles.news} onClick={news.show}>
          {news.count >= 50 ? '50+' : news.count} new
        </button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls can be scrolled by keyboard. */}
      <section ref={scroller} className={styles.scroller} tabIndex={0} aria-label="List of tasks">
        {/* biome-ignore lint/a11y/useSemanticElements: only the rows in sight exist, at places of their own. */}
        <div role="list" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const task = rows[index]
            if (!task) return null
            return (
              <TaskRow
                key={key}
                task={task}
                index={index}
                total={hasNextPage ? -1 : rows.length}
                start={start}
                height={rowHeight}
                isOpen={task.id === openId}
                isFocused={task.id === focusedId}
                isTabStop={index === Math.max(0, focusedAt)}
                isSelected={selection.ids.has(task.id)}
                isSelecting={selection.ids.size > 0}
                project={showsProject ? projectNames?.get(task.projectId) : undefined}
                mayWrite={can('tasks:write')}
                searchStr={searchStr}
                onOpen={open}
                onFocus={setFocusedId}
                onToggle={actions.toggleDone}
                onSelect={selection.toggle}
              />
            )
          })}
        </div>
        {query.isFetchNextPageError && (
          <NotLoaded what="More tasks" query={{ ...query, refetch: fetchNextPage }} />
        )}
      </section>
      <Suspense>
        {selection.ids.size > 0 && (
          <SelectionBar selection={selection} actions={actions} projectId={filters.projectId} />
        )}
      </Suspense>
      <p className="visually-hidden" role="status">
        {hasNextPage ? '' : plural(rows.length, 'task')}
      </p>
    </>
  )
}

function rangeWith(index: number, range: Range): number[] {
  const shown = defaultRangeExtractor(range)
  if (index < 0 || index >= range.count || shown.includes(index)) return shown
  return [...shown, index].sort((a, b) => a - b)
}

// The library asks for the size at once and scrolls to where a new list stands anyway: both lay the page out in the
// middle of drawing it.

function whenSized({ scrollElement }: Virtualizer<HTMLElement, Element>, tell: (size: Rect) => void) {
  if (!scrollElement) return
  const observer = new ResizeObserver(() =>
    tell({ width: scrollElement.offsetWidth, height: scrollElement.offsetHeight }),
  )
  observer.observe(scrollElement)
  return () => observer.disconnect()
}

const scrollUnlessAtTop: typeof elementScroll<HTMLElement> = (offset, options, instance) => {
  if (offset !== 0 || instance.scrollOffset !== 0) elementScroll(offset, options, instance)
}

const namesById = (projects: Project[]) => new Map(projects.map(({ id, name }) => [id, name]))
