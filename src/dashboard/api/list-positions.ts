import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { DEFAULT_SORT, type TaskFilters, type TaskIdPage, type TaskListItem } from './queries.ts'
import { activeLists } from './task-cache.ts'
import { recordsOf, type TaskRecords } from './task-records.ts'

/** The active lists that contain each task, by task id. */
export function listsContaining(queryClient: QueryClient, ids: string[]): Map<string, TaskFilters[]> {
  const lists = activeLists(queryClient)
  return new Map(
    ids.map((id) => [id, lists.filter((list) => list.ids.has(id)).map(({ filters }) => filters)]),
  )
}

interface ListChange {
  /** Of the list. */
  filters: TaskFilters
  ids: string[]
}

/** Inserts tasks at their sorted position in the loaded part of a list; tasks that it contains already are skipped. */
export function insertTasks(queryClient: QueryClient, { filters, ids }: ListChange) {
  const records = recordsOf(queryClient)
  changePages(queryClient, {
    filters,
    change(old) {
      const pages = old.map((page) => ({ ...page, ids: [...page.ids] }))
      const listed = new Set(pages.flatMap((page) => page.ids))
      for (const id of ids) {
        const task = records.row(id)
        const position = task && !listed.has(id) && findPosition(task, { records, pages, filters })
        if (position) position.page.ids.splice(position.index, 0, id)
      }
      return pages
    },
  })
}

/** Removes tasks from one list. */
export function dropTasks(queryClient: QueryClient, { filters, ids }: ListChange) {
  const dropped = new Set(ids)
  changePages(queryClient, {
    filters,
    change: (pages) => pages.map((page) => ({ ...page, ids: page.ids.filter((id) => !dropped.has(id)) })),
  })
}

/** Appends tasks to one list that had all until now, and says where those after them are. */
export function continueList(
  queryClient: QueryClient,
  { filters, ids, nextCursor }: ListChange & { nextCursor: string },
) {
  changePages(queryClient, {
    filters,
    change: (pages) =>
      pages.map((page) =>
        page === pages.at(-1) && page.nextCursor === null
          ? { ids: [...new Set([...page.ids, ...ids])], nextCursor }
          : page,
      ),
  })
}

interface PagesChange {
  filters: TaskFilters
  change(pages: TaskIdPage[]): TaskIdPage[]
}

function changePages(queryClient: QueryClient, { filters, change }: PagesChange) {
  queryClient.setQueriesData<InfiniteData<TaskIdPage>>(
    { queryKey: ['tasks', filters], exact: true, type: 'active' },
    (list) => list && { ...list, pages: change(list.pages) },
  )
}

interface LoadedList {
  records: TaskRecords
  filters: TaskFilters
  pages: TaskIdPage[]
}

/** Whether the sorted position of a task is in the loaded part of a list. */
export const isInLoadedRange = (task: TaskListItem, list: LoadedList) =>
  findPosition(task, list) !== undefined

function findPosition(task: TaskListItem, { records, pages, filters: { sort = DEFAULT_SORT } }: LoadedList) {
  for (const page of pages) {
    const index = page.ids.findIndex((id) => {
      const row = records.row(id)
      return row && comesBefore({ sort, task, row })
    })
    if (index >= 0) return { page, index }
  }
  const last = pages.at(-1)
  return last && last.nextCursor === null ? { page: last, index: last.ids.length } : undefined
}

const RANKS = { low: 0, medium: 1, high: 2 }

interface Comparison {
  sort: NonNullable<TaskFilters['sort']>
  task: TaskListItem
  row: TaskListItem
}

/** The sort order of the service: by the field of `sort`, then by id. */
export function comesBefore({ sort, task, row }: Comparison): boolean {
  const isDescending = sort.startsWith('-')
  const [first, second] = isDescending ? [task, row] : [row, task]
  if (sort === '-priority' && task.priority !== row.priority)
    return RANKS[first.priority] > RANKS[second.priority]
  if (sort === '-reports' && task.reports !== row.reports) return first.reports > second.reports
  if (sort.endsWith('openedAt') && task.openedAt !== row.openedAt) return first.openedAt > second.openedAt
  if (sort.endsWith('updatedAt') && task.updatedAt !== row.updatedAt)
    return first.updatedAt > second.updatedAt
  return first.id > second.id
}
