import { api, dataOf } from '../../api/client.ts'
import { at, everyPage, pageOfTasks, type Task, type TaskListItem } from '../../api/queries.ts'
import { type Batch, type Change, sendBatches } from './bulk.ts'
import { waitFor } from './send-each.ts'

/** Beside the tasks meant, so many pages of what others changed meanwhile are looked through. */
const MAX_PAGES_OF_OTHERS = 10
const PAGE = 200

export const patchTask = (id: string, body: Change, version?: number): Promise<Task> =>
  dataOf(
    api.PATCH('/api/tasks/{id}', {
      params: { path: { id }, ...(version && { header: { 'if-match': `"${version}"` } }) },
      body,
    }),
  )

export const getTask = (id: string): Promise<Task> =>
  dataOf(api.GET('/api/tasks/{id}', { params: { path: { id } } }))

export async function deleteTask(id: string): Promise<void> {
  await dataOf(api.DELETE('/api/tasks/{id}', { params: { path: { id } } }))
}

export const restoreTask = (id: string): Promise<Task> =>
  dataOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } }))

/** The same change of up to a hundred tasks: of all of them, or of none. */
async function patchTasks(ids: string[], change: Change): Promise<Task[]> {
  const { data } = await dataOf(api.PATCH('/api/tasks/bulk', { body: { ids, change } }))
  // Whoever sees rows may read tasks, and then a write returns them whole.
  return data as Task[]
}

/** Each task its change, in as few requests as that takes. */
export const sendAll = <T extends { id: string }>(batches: Batch<T>[]) =>
  sendBatches(batches, { send: patchTasks, wait: waitFor })

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
