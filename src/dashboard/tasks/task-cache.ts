import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Task, TaskListItem } from '../api/queries.ts'

type Page = { data: TaskListItem[]; nextCursor: string | null }
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

/** The rows of the pages that hold one of these tasks, each as `change` wants it; undefined takes it out. */
function changeRows(
  cache: QueryClient,
  ids: Map<string, unknown>,
  change: (row: TaskListItem) => TaskListItem | undefined,
) {
  cache.setQueriesData<Pages>({ queryKey: ['tasks'] }, (held) => {
    if (!held?.pages.some((page) => page.data.some(({ id }) => ids.has(id)))) return held
    const pages = held.pages.map((page) =>
      page.data.some(({ id }) => ids.has(id))
        ? { ...page, data: page.data.flatMap((row) => (ids.has(row.id) ? (change(row) ?? []) : row)) }
        : page,
    )
    return { ...held, pages }
  })
}

/** Puts a row on top of the list that is shown, where it belongs when the newest come first. */
export function putOnTop(cache: QueryClient, filters: object, tasks: TaskListItem[]) {
  cache.setQueryData<Pages>(['tasks', filters], (held) => {
    const [first, ...rest] = held?.pages ?? []
    if (!held || !first) return held
    const known = new Set(first.data.map(({ id }) => id))
    const fresh = tasks.filter(({ id }) => !known.has(id))
    return { ...held, pages: [{ ...first, data: [...fresh, ...first.data] }, ...rest] }
  })
}
