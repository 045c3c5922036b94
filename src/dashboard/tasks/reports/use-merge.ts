import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { replaceTasks } from '../../api/task-cache.ts'
import { offerUndo, undoRequest } from '../../components/undo.tsx'
import { useMutation } from '../../components/use-mutation.ts'
import { shortTitle } from '../edits/toast-text.ts'

type Titled = Pick<TaskListItem, 'id' | 'title'>

/** Merges and unmerges tasks; both can be undone. */
export function useMerge() {
  const queryClient = useQueryClient()
  const { mutate, refresh, isBusy } = useMutation('task', 'timeline', 'similar', 'reports')

  async function send(request: Promise<object>): Promise<void> {
    // With `tasks:read`, which the list requires, a write returns full tasks.
    replaceTasks(queryClient, [(await request) as TaskListItem])
  }
  const sendMerge = (id: string, into: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/merge', { params: { path: { id } }, body: { into } })))
  const sendUnmerge = (id: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/unmerge', { params: { path: { id } } })))

  return {
    isBusy,
    merge: ({ id, title }: Titled, into: string) =>
      mutate("Couldn't merge the tasks", async () => {
        await sendMerge(id, into)
        offerUndo(undoRequest(`Merged: ${shortTitle(title)}`, () => sendUnmerge(id).then(refresh)))
      }),
    unmerge: ({ id, title }: Titled, from: string) =>
      mutate("Couldn't unmerge the task", async () => {
        await sendUnmerge(id)
        offerUndo(undoRequest(`Unmerged: ${shortTitle(title)}`, () => sendMerge(id, from).then(refresh)))
      }),
  }
}
