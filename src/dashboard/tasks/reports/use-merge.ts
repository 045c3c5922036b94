import { useQueryClient } from '@tanstack/react-query'
import { offerUndo, undoRequest } from '../../components/undo.tsx'
import { useMutation } from '../../components/use-mutation.ts'
import { shortTitle } from '../edits/toast-text.ts'
import {
  MERGED_QUERIES,
  type Mergeable,
  mergeTasks,
  sendMerge,
  sendUnmerge,
  type Titled,
} from './merge-tasks.ts'

/** Merges and unmerges tasks; both can be undone. */
export function useMerge() {
  const queryClient = useQueryClient()
  const merging = useMutation()
  const unmerging = useMutation(...MERGED_QUERIES)
  return {
    isBusy: merging.isBusy || unmerging.isBusy,
    merge: (reports: Mergeable[], target: Titled) =>
      merging.mutate("Couldn't merge the tasks", () => mergeTasks(queryClient, { reports, target })),
    unmerge: ({ id, title }: Titled, from: string) =>
      unmerging.mutate("Couldn't unmerge the task", async () => {
        await sendUnmerge(queryClient, id)
        offerUndo(
          undoRequest(`Unmerged: ${shortTitle(title)}`, () =>
            sendMerge(queryClient, { id, into: from }).then(unmerging.refresh),
          ),
        )
      }),
  }
}
