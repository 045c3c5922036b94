import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { beginEdit } from '../../components/begun-edits.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import type { Mergeable } from '../reports/merge-tasks.ts'

const loadMerge = preloadModule(() => import('../reports/merge-tasks.ts'))

/** Merges the tasks of a row into its first. */
export function useMergeEqual() {
  const queryClient = useQueryClient()
  return useCallback(
    ([target, ...reports]: Mergeable[]) => {
      if (!target) return
      const merging = loadMerge().then(({ mergeTasks }) => void mergeTasks(queryClient, { reports, target }))
      beginEdit(merging)
      merging.catch(toast.notLoaded)
    },
    [queryClient],
  )
}
