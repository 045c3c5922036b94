import { answerOf, api } from '../api/client.ts'
import { at, everyPage, pageOfTasks, type Task, type TaskListItem } from '../api/queries.ts'
import type { Batch, Change, Sent } from './bulk.ts'
import { sendEach } from './send-each.ts'

/** Beside the tasks meant, so many pages of what others changed meanwhile are looked through. */
const MAX_PAGES_OF_OTHERS = 10
const PAGE = 200

export const patchTask = (id: string, body: Change, version?: number): Promise<Task> =>
  answerOf(
    api.PATCH('/api/tasks/{id}', {
      params: { path: { id }, ...(version && { header: { 'if-match': `"${version}"` } }) },
      body,
    }),
  )

export const getTask = (id: string): Promise<Task> =>
  answerOf(api.GET('/api/tasks/{id}', { params: { path: { id } } }))

export async function deleteTask(id: string): Promise<void> {
  await answerOf(api.DELETE('/api/tasks/{id}', { params: { path: { id } } }))
}

export const restoreTask = (id: string): Promise<Task> =>
  answerOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } }))

/** Each task its change, a few at a time. */
export async function sendAll<T extends { id: string }>(batches: Batch<T>[]): Promise<Sent<T>> {
  const done: Task[] = []
  const all = batches.flatMap(({ change, items }) => items.map((item) => ({ item, change })))
  const failures = await sendEach(
    all,
    async ({ item, change }) => void done.push(await patchTask(item.id, change)),
  )
  return { done, failures: failures.map(({ item, problem }) => ({ item: item.item, problem })) }
}

/** The tasks that changed since a time, by id; when others changed very many meanwhile, the latest of them. */
export async function changedSince(time: string, count: number): Promise<Map<string, TaskListItem>> {
  const found = new Map<string, TaskListItem>()
  await everyPage(
    async (cursor) => {
      const page = await pageOfTasks({ updatedSince: time, sort: '-updatedAt', limit: PAGE, ...at(cursor) })
      for (const task of page.data) found.set(task.id, task)
      return page
    },
    Math.ceil(count / PAGE) + MAX_PAGES_OF_OTHERS,
  )
  return found
}
