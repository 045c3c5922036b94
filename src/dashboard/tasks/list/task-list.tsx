import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { useLocation } from 'wouter'
import {
  isHidden,
  type Project,
  projectsQuery,
  type TaskFilters,
  type TaskListItem,
  tasksQuery,
} from '../../api/queries.ts'
import { trimList } from '../../api/task-cache.ts'
import { recordsOf } from '../../api/task-records.ts'
import { useTaskRows } from '../../api/use-tasks.ts'
import { preload } from '../../components/lazy.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { plural } from '../../lib/plural.ts'
import { useMe } from '../../session/session.ts'
import { useTaskActions } from '../edits/use-task-actions.ts'
import { formatFilters } from '../filters.ts'
import { useLabelColors } from '../label-colors.tsx'
import { type ListPath, openTaskId, useOpenTaskId } from '../open-task.ts'
import { type Grouping, type TaskGroups, ungrouped } from './grouping.ts'
import styles from './task-list.module.css'
import { TaskListLoading } from './task-list-loading.tsx'
import { TaskRow } from './task-row.tsx'
import { useAdvance } from './use-advance.ts'
import { useCursor } from './use-cursor.ts'
import { useKeptScroll } from './use-kept-scroll.ts'
import { useListShortcuts } from './use-list-shortcuts.ts'
import { useNewTasks } from './use-new-tasks.ts'
import { useRowFocus } from './use-row-focus.ts'
import { useRowGestures } from './use-row-gestures.ts'
import { useSelection } from './use-selection.ts'
import { useVisibleRows } from './use-visible-rows.ts'

const NoTasks = preload(() => import('./no-tasks.tsx'))
const SelectionBar = preload(() => import('./selection-bar.tsx'))

const ROW_PX = 40
const TWO_LINE_ROW_PX = 64
/** The approximate height of heading and filters. */
const HEADER_PX = 110
/** The next page is fetched this many rows before the end. */
const PREFETCH_ROWS = 80

/** So many tasks in so few rows are enough, until some are decided about. */
const MAX_UNPROMPTED_TASKS = 1_000
const MIN_FULL_ROWS = 200

const NO_TASKS = ungrouped([])

interface TaskListProps {
  filters: TaskFilters
  /** The address of the page, and its search. */
  path?: ListPath
  search?: string
  grouping?: Grouping
  /** Instead of what says why the list is empty. */
  empty?: ReactNode
}

/** A virtualized list. */
export function TaskList(props: TaskListProps) {
  const { filters, path = '/tasks', grouping, empty = <NoTasks filters={filters} /> } = props
  const [, navigate] = useLocation()
  const searchStr = props.search ?? formatFilters(filters)
  const { me, can } = useMe()
  const queryClient = useQueryClient()
  const query = useInfiniteQuery(tasksQuery(filters))
  useEffect(() => () => void trimList(queryClient, filters), [queryClient, filters])
  const tasks = useTaskRows(query.data)
  const shown = useMemo(() => tasks.filter((task) => !isHidden(filters, task)), [tasks, filters])
  const loaded = useMemo(() => (grouping?.groupsOf ?? ungrouped)(shown), [shown, grouping])
  // Renders many new rows in interruptible steps.
  const groups: TaskGroups = useDeferredValue(loaded, NO_TASKS)
  const { rows, tasksOf, rowIdOf } = groups
  const scroller = useRef<HTMLElement>(null)
  // By the window: a task that opens changes no row.
  const isTwoLines = useMediaQuery('(max-width: 600px), (pointer: coarse)', false, {
    getInitialValueInEffect: false,
  })
  const rowHeight = isTwoLines ? TWO_LINE_ROW_PX : ROW_PX
  const openId = useOpenTaskId()
  const openRowId = openId && rowIdOf(openId)
  const { cursor, focusedId } = useCursor()
  // Another task may have become the first of its group.
  const focusedRowId = focusedId && rowIdOf(focusedId)
  const focusedIndex = useMemo(() => rows.findIndex(({ id }) => id === focusedRowId), [rows, focusedRowId])
  const visibleRows = useVisibleRows({
    scroller,
    count: rows.length,
    rowHeight,
    estimatedHeight: innerHeight - HEADER_PX,
    overscan: useDeferredValue(12, 2),
    keptIndex: focusedIndex,
  })
  const focusRow = useRowFocus({ scroller, focusedIndex, focusedRowId })
  const selection = useSelection(groups)
  const actions = useTaskActions()
  useRowGestures({ isEnabled: can('tasks:write'), groups, selection, actions })
  const newTasks = useNewTasks(filters, scroller)
  const { data: projectNames } = useQuery({ ...projectsQuery, select: namesById })
  const hasSynced = useMemo(() => rows.some(({ source }) => source === 'codehost'), [rows])
  const labelColors = useLabelColors(filters.projectId, { isEnabled: hasSynced })
  const showsProject = filters.projectId === undefined && (projectNames?.size ?? 0) > 1

  const open = useCallback(
    (taskId: string) => navigate(`${path}/${taskId}${searchStr}`, { replace: openTaskId() !== undefined }),
    [navigate, path, searchStr],
  )
  const moveTo = (id: string, { index, takesFocus = true }: { index: number; takesFocus?: boolean }) => {
    cursor.moveTo(id)
    if (takesFocus) focusRow(id)
    visibleRows.scrollToIndex(index)
    if (openTaskId()) open(id)
  }
  const close = () => navigate(path + searchStr)
  const advance = useAdvance({ groups, filters, cursor, moveTo, close })
  useListShortcuts({
    groups,
    cursor,
    selection,
    actions,
    mayWrite: can('tasks:write'),
    username: me?.user?.username,
    merge: grouping?.merge,
    onOpen: open,
    onFocus: moveTo,
    onClose: close,
    onChange: advance,
  })

  const latestTasksOf = useRef(tasksOf)
  latestTasksOf.current = tasksOf
  const toggleDone = useCallback(
    (task: TaskListItem) => actions.toggleDone(latestTasksOf.current(task)),
    [actions],
  )

  const isRendered = groups === loaded
  const records = recordsOf(queryClient)
  // Those that follow may be among them.
  const isSavingAll = shown.length === 0 && tasks.some(({ id }) => records.isBeingSaved(id))
  const lastShown = visibleRows.indexes.at(-1) ?? 0
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  useEffect(() => {
    if (!isRendered || isSavingAll || !hasNextPage || isFetchingNextPage || isFetchNextPageError) return
    // Not before the user scrolls: the first page exceeds the viewport, unless a search ended it early.
    const last = Math.min(rows.length - 1, rows.length - Math.min(PREFETCH_ROWS, rows.length / 4))
    // More of them at once where equal ones are one row.
    const isFirstPage = grouping !== undefined && query.data?.pages.length === 1
    // A few rows that stand for many would never fill it.
    const isFull = rows.length < MIN_FULL_ROWS && shown.length >= MAX_UNPROMPTED_TASKS
    if (isFirstPage || (lastShown >= last && !isFull)) void fetchNextPage()
  }, [
    isRendered,
    isSavingAll,
    lastShown,
    rows.length,
    shown.length,
    grouping,
    query.data,
    hasNextPage,
    isFetchingNextPage,
    isFetchNextPageError,
    fetchNextPage,
  ])

  const isRendering = rows.length < loaded.rows.length
  useKeptScroll({
    scroller,
    address: path + searchStr,
    height: rows.length * rowHeight,
    hasMore: isRendering || (hasNextPage && !isFetchNextPageError),
    isLoading: isRendering || isFetchingNextPage,
    loadMore: fetchNextPage,
  })

  const loading = (
    <TaskListLoading
      rowHeight={rowHeight}
      isTwoLines={isTwoLines}
      query={query}
      queryKey={tasksQuery(filters).queryKey}
    />
  )
  const isSearching = hasNextPage && !isFetchNextPageError
  if (query.isPending || (rows.length === 0 && (loaded.rows.length > 0 || isSearching))) return loading
  if (query.isError && rows.length === 0) return <LoadError what="tasks" query={query} />
  if (rows.length === 0 && newTasks.count === 0) {
    return <Suspense fallback={loading}>{empty}</Suspense>
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
        <div
          role="list"
          className={isTwoLines ? styles.twoLines : styles.rows}
          style={{ height: rows.length * rowHeight }}
        >
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
                isOpen={task.id === openRowId}
                isHighlighted={task.id === (openRowId ?? focusedRowId)}
                isTabStop={index === Math.max(0, focusedIndex)}
                isSelected={selection.ids.has(task.id)}
                labelColors={labelColors}
                isSelecting={selection.ids.size > 0}
                project={showsProject ? projectNames?.get(task.projectId) : undefined}
                mayWrite={can('tasks:write')}
                address={`${path}/${task.id}${searchStr}`}
                tasks={grouping && tasksOf(task)}
                onOpen={open}
                onFocus={cursor.moveTo}
                onToggle={toggleDone}
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
