import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { type Activity, cursorParam, fetchTaskPage, type TaskListItem } from '../../api/queries.ts'

const TASKS_PER_PAGE = 50
/** Bounds the requests for tasks that were deleted and restored many times. */
const MAX_ACTIVITY_PAGES = 5

interface Cursors {
  tasks: string
  /** Null at the end of the activity log. */
  activity: string | null
}

export interface TrashPage {
  tasks: TaskListItem[]
  deletions: Activity[]
  next: Cursors | undefined
}

/** Deleted tasks, latest first, with the activity of their deletion if it was found. */
export const trashQuery = (projectId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['trash', projectId ?? null],
    initialPageParam: { tasks: '', activity: '' } as Cursors,
    getNextPageParam: ({ next }: TrashPage) => next,
    async queryFn({ pageParam, signal }): Promise<TrashPage> {
      const within = projectId && { projectId }
      const { data: tasks, nextCursor } = await fetchTaskPage(
        { ...within, deleted: true, limit: TASKS_PER_PAGE, ...cursorParam(pageParam.tasks) },
        signal,
      )
      const missingIds = new Set(tasks.map(({ id }) => id))
      const deletions: Activity[] = []
      let activity = pageParam.activity
      for (let page = 0; missingIds.size > 0 && activity !== null && page < MAX_ACTIVITY_PAGES; page++) {
        const query = { type: ['task.deleted'], limit: 200, ...within, ...cursorParam(activity) }
        const found = await dataOf(api.GET('/api/activity', { params: { query }, signal }))
        for (const { taskId } of found.data) if (taskId) missingIds.delete(taskId)
        deletions.push(...found.data)
        activity = found.nextCursor
      }
      return { tasks, deletions, next: nextCursor === null ? undefined : { tasks: nextCursor, activity } }
    },
  })

/** A deleted task, with its last deletion if it was found. */
export interface DeletedTask {
  task: TaskListItem
  deletion: Activity | undefined
}

export function deletedTasks(pages: TrashPage[]): DeletedTask[] {
  const latest = new Map<string, Activity>()
  for (const deletion of pages.flatMap(({ deletions }) => deletions))
    if (deletion.taskId && !latest.has(deletion.taskId)) latest.set(deletion.taskId, deletion)
  return pages.flatMap(({ tasks }) => tasks.map((task) => ({ task, deletion: latest.get(task.id) })))
}
