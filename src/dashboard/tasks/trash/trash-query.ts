import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { type Activity, at, pageOfTasks, type TaskListItem } from '../../api/queries.ts'

const TASKS_A_PAGE = 50
/** Tasks that were deleted and restored many times have many deletions; so many pages of them are read. */
const MAX_ACTIVITY_PAGES = 5

interface Cursors {
  tasks: string
  /** Where the activity goes on; null at its end. */
  activity: string | null
}

export interface TrashPage {
  tasks: TaskListItem[]
  deletions: Activity[]
  next: Cursors | undefined
}

/** Deleted tasks, the latest deletion first, and who deleted them as far as the activity tells. */
export const trashQuery = (projectId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['trash', projectId ?? null],
    initialPageParam: { tasks: '', activity: '' } as Cursors,
    getNextPageParam: ({ next }: TrashPage) => next,
    async queryFn({ pageParam, signal }): Promise<TrashPage> {
      const within = projectId && { projectId }
      const { data: tasks, nextCursor } = await pageOfTasks(
        { ...within, deleted: true, limit: TASKS_A_PAGE, ...at(pageParam.tasks) },
        signal,
      )
      const sought = new Set(tasks.map(({ id }) => id))
      const deletions: Activity[] = []
      let activity = pageParam.activity
      for (let page = 0; sought.size > 0 && activity !== null && page < MAX_ACTIVITY_PAGES; page++) {
        const query = { type: ['task.deleted'], limit: 200, ...within, ...at(activity) }
        const found = await dataOf(api.GET('/api/activity', { params: { query }, signal }))
        for (const { taskId } of found.data) if (taskId) sought.delete(taskId)
        deletions.push(...found.data)
        activity = found.nextCursor
      }
      return { tasks, deletions, next: nextCursor === null ? undefined : { tasks: nextCursor, activity } }
    },
  })

/** A deleted task, and its last deletion where that is known. */
export interface Deleted {
  task: TaskListItem
  deletion: Activity | undefined
}

export function deletedIn(pages: TrashPage[]): Deleted[] {
  const latest = new Map<string, Activity>()
  for (const deletion of pages.flatMap(({ deletions }) => deletions))
    if (deletion.taskId && !latest.has(deletion.taskId)) latest.set(deletion.taskId, deletion)
  return pages.flatMap(({ tasks }) => tasks.map((task) => ({ task, deletion: latest.get(task.id) })))
}
