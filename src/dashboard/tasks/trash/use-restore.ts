import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { type TaskListItem, taskQuery } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { toast } from '../../components/toast.ts'
import { offerUndo, undoRequest } from '../../components/undo.tsx'
import { deleteTask, restoreTask } from '../edits/task-requests.ts'
import { shortTitle } from '../edits/toast-text.ts'
import type { TrashPage } from './trash-query.ts'

type Pages = InfiniteData<TrashPage>

export function useRestore() {
  const queryClient = useQueryClient()
  const [busyIds, setBusyIds] = useState<ReadonlySet<string>>(new Set())
  const setBusy = (id: string, isBusy: boolean) =>
    setBusyIds((ids) => new Set(isBusy ? [...ids, id] : [...ids].filter((other) => other !== id)))

  async function restore({ id, title }: TaskListItem): Promise<boolean> {
    setBusy(id, true)
    try {
      const receive = recordsOf(queryClient).request()
      const task = await restoreTask(id)
      receive([task])
      queryClient.setQueryData(taskQuery(id).queryKey, task)
      queryClient.setQueriesData<Pages>({ queryKey: ['trash'] }, (pages) => pages && without(pages, id))
      offerUndo(
        undoRequest(`Restored: ${shortTitle(title)}`, async () => {
          await deleteTask(id)
          await queryClient.invalidateQueries({ queryKey: ['trash'] })
        }),
      )
      return true
    } catch (error) {
      toast.problem("Couldn't restore the task", problemOf(error))
      return false
    } finally {
      setBusy(id, false)
    }
  }
  return { restore, busyIds }
}

const without = (pages: Pages, id: string): Pages => ({
  ...pages,
  pages: pages.pages.map((page) => ({ ...page, tasks: page.tasks.filter((task) => task.id !== id) })),
})
