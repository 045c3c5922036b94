import { api, dataOf, type QueryParams } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { type Activity, cursorParam, fetchTaskPage, type Task, type TaskListItem } from '../../api/queries.ts'
import { type Batch, type BulkProgress, type Change, sendBatches } from './bulk.ts'
import { waitToRetry } from './send-each.ts'

/** Bounds what is read because of changes to other tasks, and of comments on them. */
const MAX_OTHER_TASKS = 2_000
const MAX_COMMENT_PAGES = 10
const PAGE_SIZE = 200
/** As many requests as a browser sends at once. */
const MAX_READ_ALONE = 6

interface TaskPatch {
  id: string
  change: Change
  /** Without it, the change applies to whatever version the task has. */
  version?: number
}

/** @throws Problem 412 when the task has another version by now. */
export const patchTask = ({ id, change, version }: TaskPatch): Promise<Task> =>
  dataOf(
    api.PATCH('/api/tasks/{id}', {
      params: { path: { id }, ...(version && { header: { 'if-match': `"${version}"` } }) },
      body: change,
    }),
  )

export const getTask = (id: string): Promise<Task> =>
  dataOf(api.GET('/api/tasks/{id}', { params: { path: { id } } }))

export async function deleteTask(id: string): Promise<void> {
  await dataOf(api.DELETE('/api/tasks/{id}', { params: { path: { id } } }))
}

export const restoreTask = (id: string): Promise<Task> =>
  dataOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } }))

/** Applies one change to up to 100 tasks, all or none. */
async function patchTasks(ids: string[], change: Change): Promise<TaskListItem[]> {
  const { data } = await dataOf(api.PATCH('/api/tasks/bulk', { body: { ids, change } }))
  // With `tasks:read`, which the list requires, a write returns all fields of a list.
  return data as TaskListItem[]
}

export const sendAll = <T extends { id: string }>(batches: Batch<T>[], progress?: BulkProgress) =>
  sendBatches(batches, { send: patchTasks, wait: waitToRetry, progress })

/**
 * Tasks that may have changed since a time, by id: a few are read by themselves, as others may have changed thousands.
 * Those that are missing did not change, or are deleted.
 */
export async function readChanged(ids: string[], since: string): Promise<Map<string, Task | TaskListItem>> {
  if (ids.length > MAX_READ_ALONE) return changedSince(since, ids.length)
  const tasks = await Promise.all(ids.map((id) => getTask(id).catch(undefinedIfNotFound)))
  return new Map(tasks.flatMap((task) => (task ? [[task.id, task]] : [])))
}

function undefinedIfNotFound(error: unknown): undefined {
  if (problemOf(error).status !== 404) throw error
}

/** The tasks changed since a time, by id; only the latest ones when there are too many. */
async function changedSince(time: string, count: number): Promise<Map<string, TaskListItem>> {
  const tasks = new Map<string, TaskListItem>()
  // Pages can be short: what counts is how many tasks they have.
  for (let cursor: string | null = ''; cursor !== null && tasks.size < count + MAX_OTHER_TASKS; ) {
    const { data, nextCursor }: TaskPage = await fetchTaskPage({
      updatedSince: time,
      sort: '-updatedAt',
      limit: PAGE_SIZE,
      ...cursorParam(cursor),
    })
    for (const task of data) tasks.set(task.id, task)
    cursor = nextCursor
  }
  return tasks
}

/**
 * Comments since a time, newest first: those on a few tasks by themselves, else all; only the latest ones when there
 * are too many.
 */
export async function readComments(ids: string[], since: string): Promise<Activity[]> {
  if (ids.length > MAX_READ_ALONE) return commentsSince(since)
  const pages = await Promise.all(ids.map((taskId) => commentPage({ taskId, since })))
  return pages.flatMap(({ data }) => data)
}

async function commentsSince(since: string): Promise<Activity[]> {
  const comments: Activity[] = []
  let cursor: string | null = ''
  for (let page = 1; cursor !== null && page <= MAX_COMMENT_PAGES; page++) {
    const { data, nextCursor }: ActivityPage = await commentPage({ since, ...cursorParam(cursor) })
    comments.push(...data)
    cursor = nextCursor
  }
  return comments
}

const commentPage = (filter: QueryParams<'/api/activity'>) => {
  const query = { type: ['comment.created'], ...filter, limit: PAGE_SIZE }
  return dataOf(api.GET('/api/activity', { params: { query } }))
}

type ActivityPage = Awaited<ReturnType<typeof commentPage>>
type TaskPage = Awaited<ReturnType<typeof fetchTaskPage>>
