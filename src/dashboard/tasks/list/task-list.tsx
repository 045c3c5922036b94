import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { useLocation } from 'wouter'
import {
  type Project,
  projectsQuery,
  type TaskFilters,
  type TaskListItem,
  tasksQuery,
} from '../../api/queries.ts'
import { trimList } from '../../api/task-cache.ts'
import { useTaskRows } from '../../api/use-tasks.ts'
import { preload } from '../../components/lazy.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { plural } from '../../lib/plural.ts'
import { useMe } from '../../session/session.ts'
import { useTaskActions } from '../edits/use-task-actions.ts'
import { formatFilters } from '../filters.ts'
import { useLabelColors } from '../label-colors.tsx'
import { openTaskId, useOpenTaskId } from '../open-task.ts'
import styles from './task-list.module.css'
import { TaskListLoading } from './task-list-loading.tsx'
import { TaskRow } from './task-row.tsx'
import { useCursor } from './use-cursor.ts'
import { useListShortcuts } from './use-list-shortcuts.ts'
import { useNewTasks } from './use-new-tasks.ts'
import { useRowFocus } from './use-row-focus.ts'
import { useSelection } from './use-selection.ts'
import { useVisibleRows } from './use-visible-rows.ts'

const NoTasks = preload(() => import('./no-tasks.tsx'))
const SelectionBar = preload(() => import('./selection-bar.tsx'))

const ROW_PX = 40
const TOUCH_ROW_PX = 48
/** The approximate height of heading and filters. */
const HEADER_PX = 110
/** The next page is fetched this many rows before the end. */
const PREFETCH_ROWS = 80

const NO_ROWS: TaskListItem[] = []

interface TaskListProps {
  filters: TaskFilters
}

/** A virtualized list. */
export function TaskList({ filters }: TaskListProps) {
  const [, navigate] = useLocation()
  const searchStr = formatFilters(filters)
  const { me, can } = useMe()
  const queryClient = useQueryClient()
  const query = useInfiniteQuery(tasksQuery(filters))
  useEffect(() => () => void trimList(queryClient, filters), [queryClient, filters])
  const loaded = useTaskRows(query.data)
  // Renders many new rows in interruptible steps.
  const rows = useDeferredValue(loaded, NO_ROWS)
  const scroller = useRef<HTMLElement>(null)
  const rowHeight = useMemo(() => (matchMedia('(pointer: coarse)').matches ? TOUCH_ROW_PX : ROW_PX), [])
  const openId = useOpenTaskId()
  const { cursor, focusedId } = useCursor()
  const focusedIndex = useMemo(() => rows.findIndex(({ id }) => id === focusedId), [rows, focusedId])
  const visibleRows = useVisibleRows({
    scroller,
    count: rows.length,
    rowHeight,
    estimatedHeight: innerHeight - HEADER_PX,
    overscan: useDeferredValue(12, 2),
    keptIndex: focusedIndex,
  })
  const focusRow = useRowFocus({ scroller, focusedIndex })
  const selection = useSelection(rows)
  const actions = useTaskActions()
  const newTasks = useNewTasks(filters, scroller)
  const { data: projectNames } = useQuery({ ...projectsQuery, select: namesById })
  const hasSynced = useMemo(() => rows.some(({ source }) => source === 'codehost'), [rows])
  const labelColors = useLabelColors(filters.projectId, { isEnabled: hasSynced })
  const showsProject = filters.projectId === undefined && (projectNames?.size ?? 0) > 1

  const open = useCallback(
    (taskId: string) => navigate(`/tasks/${taskId}${searchStr}`, { replace: openTaskId() !== undefined }),
    [navigate, searchStr],
  )
  useListShortcuts({
    rows,
    cursor,
    selection,
    actions,
    mayWrite: can('tasks:write'),
    username: me?.user?.username,
    onOpen: open,
    onFocus(id, index) {
      cursor.moveTo(id)
      focusRow(id)
      visibleRows.scrollToIndex(index)
      if (openTaskId()) open(id)
    },
    onClose: () => navigate(`/tasks${searchStr}`),
  })

  const lastShown = visibleRows.indexes.at(-1) ?? 0
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  useEffect(() => {
    if (!hasNextPage || isFetchingNextPage || isFetchNextPageError) return
    // Not before the user scrolls: the first page exceeds the viewport, unless a search ended it early.
    const last = Math.min(rows.length - 1, rows.length - Math.min(PREFETCH_ROWS, rows.length / 4))
    if (lastShown >= last) void fetchNextPage()
  }, [lastShown, rows.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])

  const loading = <TaskListLoading query={query} queryKey={tasksQuery(filters).queryKey} />
  const isSearching = hasNextPage && !isFetchNextPageError
  if (query.isPending || (rows.length === 0 && (loaded.length > 0 || isSearching))) return loading
  if (query.isError && rows.length === 0) return <LoadError what="tasks" query={query} />
  if (rows.length === 0 && newTasks.count === 0) {
    return (
      <Suspense fallback={loading}>
        <NoTasks filters={filters} />
      </Suspense>
    )
  }

  return (
    <>
      {newTasks.count > 0 && (
        <button type="button" className={styles.newTasks} onClick={newTasks.show}>
          {newTasks.count >= 50 ? '50+' : newTasks.count} new
        </button>
      )}
      <section
        ref={visibleRows.ref}
        className={styles.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable.
        tabIndex={0}
        aria-label="List of tasks"
        data-list
      >
        {/* biome-ignore lint/a11y/useSemanticElements: the list is virtualized. */}
        <div role="list" className={styles.rows} style={{ height: rows.length * rowHeight }}>
          {visibleRows.indexes.map((index) => {
            const task = rows[index]
            if (!task) return null
            return (
              <TaskRow
                key={task.id}
                task={task}
                index={index}
                total={hasNextPage ? -1 : rows.length}
                start={index * rowHeight}
                height={rowHeight}
                isOpen={task.id === openId}
                isHighlighted={task.id === (openId ?? focusedId)}
                isTabStop={index === Math.max(0, focusedIndex)}
                isSelected={selection.ids.has(task.id)}
                labelColors={labelColors}
                isSelecting={selection.ids.size > 0}
                project={showsProject ? projectNames?.get(task.projectId) : undefined}
                mayWrite={can('tasks:write')}
                searchStr={searchStr}
                onOpen={open}
                onFocus={cursor.moveTo}
                onToggle={actions.toggleDone}
                onSelect={selection.toggle}
              />
            )
          })}
        </div>
        {query.isFetchNextPageError && (
          <LoadError what="more tasks" query={{ ...query, refetch: fetchNextPage }} />
        )}
      </section>
      <Suspense>
        {selection.ids.size > 0 && <SelectionBar selection={selection} actions={actions} filters={filters} />}
      </Suspense>
      <p className="visually-hidden" role="status">
        {hasNextPage ? '' : plural(rows.length, 'task')}
      </p>
    </>
  )
}

const namesById = (projects: Project[]) => new Map(projects.map(({ id, name }) => [id, name]))
