import type { QueryClient } from '@tanstack/react-query'
import { isPrincipal, meQuery } from '../../session/session.ts'
import { getTask, patchTask, readChanged, readComments, sendAll } from './task-requests.ts'
import type { UndoIo } from './undo-edits.ts'

/** How an undo reads tasks and writes them. */
export const undoIoOf = (queryClient: QueryClient): UndoIo => ({
  readChanged,
  async readCommented(ids, since) {
    const me = queryClient.getQueryData(meQuery.queryKey)
    const comments = await readComments(ids, since)
    // One's own are no reason to refuse, and those of the code host decide nothing.
    const deciding = comments.filter(
      ({ actor }) => actor.type !== 'codehost' && !(me && isPrincipal(me, actor)),
    )
    return new Set(deciding.flatMap(({ taskId }) => taskId ?? []))
  },
  get: getTask,
  patch: patchTask,
  sendBatches: (batches) => sendAll(batches),
})
