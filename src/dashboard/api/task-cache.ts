import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { itemsOf, type Task, type TaskFilters, type TaskListItem } from './queries.ts'

export type Page = { data: TaskListItem[]; nextCursor: string | null }
type Pages = InfiniteData<Page>

/** Puts newer states of tasks where older ones are shown; nothing changes its place. */
export function replaceTasks(cache: QueryClient, tasks: (Task | TaskListItem)[]) {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  changeRows(cache, byId, (row) => {
    const newer = byId.get(row.id)
    return newer && newer.version >= row.version ? { ...row, ...newer } : row
  })
  for (const task of tasks) {
    if (!('metadata' in task)) continue
    cache.setQueryData<Task>(['task', task.id], task as Task)
  }
}

/** Shows what a change will look like before the service has said yes; answers how to take it back. */
export function previewChange(
  cache: QueryClient,
  ids: string[],
  changeOf: (task: TaskListItem | Task) => Partial<TaskListItem>,
): () => void {
  const before = new Map<string, TaskListItem>()
  const chosen = new Map(ids.map((id) => [id, true]))
  changeRows(cache, chosen, (row) => {
    before.set(row.id, row)
    return { ...row, ...changeOf(row) }
  })
  const details = ids.flatMap((id) => cache.getQueryData<Task>(['task', id]) ?? [])
  for (const task of details)
    cache.setQueryData<Task>(['task', task.id], { ...task, ...changeOf(task) } as Task)
  return () => {
    changeRows(cache, before, (row) => before.get(row.id) ?? row)
    for (const task of details) cache.setQueryData<Task>(['task', task.id], task)
  }
}

export function dropTasks(cache: QueryClient, ids: string[]) {
  const gone = new Map(ids.map((id) => [id, true]))
  if (gone.size > 0) changeRows(cache, gone, () => undefined)
}

/**
 * The rows of the pages that hold one of these tasks, each as `change` wants it; undefined takes it out. Lists that
 * nobody looks at are left as they are: every change marks them to be asked for again.
 */
function changeRows(
  cache: QueryClient,
  ids: Map<string, unknown>,
  change: (row: TaskListItem) => TaskListItem | undefined,
) {
  cache.setQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' }, (held) => {
    if (!held?.pages.some((page) => page.data.some(({ id }) => ids.has(id)))) return undefined
    const pages = held.pages.map((page) =>
      page.data.some(({ id }) => ids.has(id))
        ? { ...page, data: page.data.flatMap((row) => (ids.has(row.id) ? (change(row) ?? []) : row)) }
        : page,
    )
    return { ...held, pages }
  })
}

/** The lists that hold each of these tasks, by its id. */
export function listsHolding(cache: QueryClient, ids: string[]): Map<string, TaskFilters[]> {
  const holders = new Map<string, TaskFilters[]>(ids.map((id) => [id, []]))
  for (const [key, held] of cache.getQueriesData<Pages>({ queryKey: ['tasks'], type: 'active' })) {
    for (const { id } of itemsOf(held)) holders.get(id)?.push(key[1] as TaskFilters)
  }
  return holders
}

/** Puts tasks where they belong in a list, as far as it is loaded; what it holds stays where it is. */
export function putInPlace(cache: QueryClient, filters: TaskFilters, tasks: TaskListItem[]) {
  cache.setQueriesData<Pages>({ queryKey: ['tasks', filters], exact: true, type: 'active' }, (held) => {
    if (!held) return undefined
    const pages = held.pages.map((page) => ({ ...page, data: [...page.data] }))
    const known = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))
    for (const task of tasks) {
      const place = known.has(task.id) ? undefined : placeIn(pages, filters, task)
      place?.page.data.splice(place.index, 0, task)
    }
    return { ...held, pages }
  })
}

/**
 * A list that nobody looks at any more keeps its first page: whoever comes back sees that at once, and what has come
 * and gone meanwhile with the answer to one small question.
 */
export async function leaveTasks(cache: QueryClient, filters: TaskFilters) {
  const list = { queryKey: ['tasks', filters], exact: true }
  // React may mount it again at once.
  await Promise.resolve()
  if (cache.getQueryCache().find(list)?.isActive()) return
  await cache.cancelQueries(list)
  cache.setQueryData<Pages>(
    list.queryKey,
    (held) => held && { pages: held.pages.slice(0, 1), pageParams: held.pageParams.slice(0, 1) },
  )
  await cache.invalidateQueries({ ...list, refetchType: 'none' })
}

/** Whether a list is loaded as far as the place of a task. */
export const isWithin = (pages: Page[], filters: TaskFilters, task: TaskListItem) =>
  placeIn(pages, filters, task) !== undefined

function placeIn(pages: Page[], { sort }: TaskFilters, task: TaskListItem) {
  for (const page of pages) {
    const index = page.data.findIndex((row) => comesBefore(sort ?? '-createdAt', task, row))
    if (index >= 0) return { page, index }
  }
  const last = pages.at(-1)
  return last && last.nextCursor === null ? { page: last, index: last.data.length } : undefined
}

const RANKS = { low: 0, medium: 1, high: 2 }

/** As the service sorts: by what was asked for, then by age. */
function comesBefore(sort: NonNullable<TaskFilters['sort']>, task: TaskListItem, row: TaskListItem): boolean {
  const isDescending = sort.startsWith('-')
  const [first, second] = isDescending ? [task, row] : [row, task]
  if (sort === '-priority' && task.priority !== row.priority)
    return RANKS[first.priority] > RANKS[second.priority]
  if (sort.endsWith('updatedAt') && task.updatedAt !== row.updatedAt)
    return first.updatedAt > second.updatedAt
  return first.id > second.id
}
