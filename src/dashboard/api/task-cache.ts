import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { DEFAULT_SORT, itemsOf, type Task, type TaskFilters, type TaskListItem } from './queries.ts'

export type Page = { data: TaskListItem[]; nextCursor: string | null }
type Pages = InfiniteData<Page>

/** Replaces cached tasks by newer versions in place. */
export function replaceTasks(queryClient: QueryClient, tasks: (Task | TaskListItem)[]) {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  changeRows(queryClient, {
    ids: byId,
    change(row) {
      const newer = byId.get(row.id)
      return newer && newer.version >= row.version ? { ...row, ...newer } : row
    },
  })
  for (const task of tasks) {
    if (!('metadata' in task)) continue
    queryClient.setQueryData<Task>(['task', task.id], task as Task)
  }
}

interface ReportedChange {
  id: string
  changedAt: string
  change: Partial<TaskListItem>
}

/** Changes a cached row that is older than the change; its version stays, so that a newer row still replaces it. */
export function changeOlderRow(queryClient: QueryClient, { id, changedAt, change }: ReportedChange) {
  changeRows(queryClient, {
    ids: new Set([id]),
    change: (row) => (row.updatedAt < changedAt ? { ...row, ...change } : row),
  })
}

interface Preview {
  ids: string[]
  changeOf(task: TaskListItem | Task): Partial<TaskListItem>
}

/** Optimistic update. Returns a function that reverts it. */
export function previewChange(queryClient: QueryClient, { ids, changeOf }: Preview): () => void {
  const before = new Map<string, TaskListItem>()
  changeRows(queryClient, {
    ids: new Set(ids),
    change(row) {
      before.set(row.id, row)
      return { ...row, ...changeOf(row) }
    },
  })
  const details = ids.flatMap((id) => queryClient.getQueryData<Task>(['task', id]) ?? [])
  for (const task of details)
    queryClient.setQueryData<Task>(['task', task.id], { ...task, ...changeOf(task) } as Task)
  return () => {
    changeRows(queryClient, { ids: before, change: (row) => before.get(row.id) ?? row })
    for (const task of details) queryClient.setQueryData<Task>(['task', task.id], task)
  }
}

export function removeTasks(queryClient: QueryClient, ids: string[]) {
  if (ids.length > 0) changeRows(queryClient, { ids: new Set(ids), change: () => undefined })
}

interface RowChange {
  ids: { has(id: string): boolean }
  /** Returns the new row; undefined removes it. */
  change(row: TaskListItem): TaskListItem | undefined
}

/** Replaces or removes rows in active lists. Inactive lists are skipped, because every change invalidates them. */
function changeRows(queryClient: QueryClient, { ids, change }: RowChange) {
  queryClient.setQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' }, (cached) => {
    if (!cached?.pages.some((page) => page.data.some(({ id }) => ids.has(id)))) return undefined
    const pages = cached.pages.map((page) =>
      page.data.some(({ id }) => ids.has(id))
        ? { ...page, data: page.data.flatMap((row) => (ids.has(row.id) ? (change(row) ?? []) : row)) }
        : page,
    )
    return { ...cached, pages }
  })
}

/** The active lists that contain each task, by task id. */
export function listsContaining(queryClient: QueryClient, ids: string[]): Map<string, TaskFilters[]> {
  const listsById = new Map<string, TaskFilters[]>(ids.map((id) => [id, []]))
  for (const [key, cached] of queryClient.getQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' })) {
    for (const { id } of itemsOf(cached)) listsById.get(id)?.push(key[1] as TaskFilters)
  }
  return listsById
}

/** The rows of active lists that wait for one of these tasks. */
export function dependentsOf(queryClient: QueryClient, ids: ReadonlySet<string>): string[] {
  const lists = queryClient.getQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' })
  const rows = lists.flatMap(([, cached]) => itemsOf(cached))
  return [...new Set(rows.filter(({ blockedBy }) => blockedBy.some((id) => ids.has(id))).map(({ id }) => id))]
}

interface Insertion {
  /** Of the list. */
  filters: TaskFilters
  tasks: TaskListItem[]
}

/** Inserts tasks at their sorted position in the loaded part of a list; tasks that it contains already are skipped. */
export function insertTasks(queryClient: QueryClient, { filters, tasks }: Insertion) {
  queryClient.setQueriesData<Pages>(
    { queryKey: ['tasks', filters], exact: true, type: 'active' },
    (cached) => {
      if (!cached) return undefined
      const pages = cached.pages.map((page) => ({ ...page, data: [...page.data] }))
      const existingIds = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))
      for (const task of tasks) {
        const position = existingIds.has(task.id) ? undefined : findPosition(task, { pages, filters })
        position?.page.data.splice(position.index, 0, task)
      }
      return { ...cached, pages }
    },
  )
}

/** Keeps only the first page of an inactive list: it renders at once, and one small request refreshes it. */
export async function trimList(queryClient: QueryClient, filters: TaskFilters) {
  const list = { queryKey: ['tasks', filters], exact: true }
  // In strict mode React remounts at once.
  await Promise.resolve()
  if (queryClient.getQueryCache().find(list)?.isActive()) return
  await queryClient.cancelQueries(list)
  queryClient.setQueryData<Pages>(
    list.queryKey,
    (cached) => cached && { pages: cached.pages.slice(0, 1), pageParams: cached.pageParams.slice(0, 1) },
  )
  await queryClient.invalidateQueries({ ...list, refetchType: 'none' })
}

interface LoadedList {
  filters: TaskFilters
  pages: Page[]
}

/** Whether the sorted position of a task is in the loaded part of a list. */
export const isInLoadedRange = (task: TaskListItem, list: LoadedList) =>
  findPosition(task, list) !== undefined

function findPosition(task: TaskListItem, { pages, filters: { sort = DEFAULT_SORT } }: LoadedList) {
  for (const page of pages) {
    const index = page.data.findIndex((row) => comesBefore({ sort, task, row }))
    if (index >= 0) return { page, index }
  }
  const last = pages.at(-1)
  return last && last.nextCursor === null ? { page: last, index: last.data.length } : undefined
}

const RANKS = { low: 0, medium: 1, high: 2 }

interface Comparison {
  sort: NonNullable<TaskFilters['sort']>
  task: TaskListItem
  row: TaskListItem
}

/** The sort order of the service: by the field of `sort`, then by id. */
function comesBefore({ sort, task, row }: Comparison): boolean {
  const isDescending = sort.startsWith('-')
  const [first, second] = isDescending ? [task, row] : [row, task]
  if (sort === '-priority' && task.priority !== row.priority)
    return RANKS[first.priority] > RANKS[second.priority]
  if (sort.endsWith('openedAt') && task.openedAt !== row.openedAt) return first.openedAt > second.openedAt
  if (sort.endsWith('updatedAt') && task.updatedAt !== row.updatedAt)
    return first.updatedAt > second.updatedAt
  return first.id > second.id
}
