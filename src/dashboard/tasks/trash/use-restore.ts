import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import { undoable, undoneBy } from '../../components/undo.tsx'
import { deleteTask, restoreTask } from '../edits/task-requests.ts'
import { shortTitle } from '../edits/toast-text.ts'
import type { TrashPage } from './trash-query.ts'

type Pages = InfiniteData<TrashPage>

/** Restores deleted tasks and offers to undo that. */
export function useRestore() {
  const cache = useQueryClient()
  const [busyIds, setBusyIds] = useState<ReadonlySet<string>>(new Set())
  const setBusy = (id: string, isBusy: boolean) =>
    setBusyIds((ids) => new Set(isBusy ? [...ids, id] : [...ids].filter((other) => other !== id)))

  async function restore({ id, title }: TaskListItem): Promise<boolean> {
    setBusy(id, true)
    try {
      cache.setQueryData(['task', id], await restoreTask(id))
      cache.setQueriesData<Pages>({ queryKey: ['trash'] }, (held) => held && without(held, id))
      undoable(
        undoneBy(`Restored: ${shortTitle(title)}`, async () => {
          await deleteTask(id)
          await cache.invalidateQueries({ queryKey: ['trash'] })
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

const without = (held: Pages, id: string): Pages => ({
  ...held,
  pages: held.pages.map((page) => ({ ...page, tasks: page.tasks.filter((task) => task.id !== id) })),
})
