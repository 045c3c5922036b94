import type { QueryClient } from '@tanstack/react-query'
import { replaceTasks } from '../../api/task-cache.ts'
import type { UndoEntry } from '../../components/undo-stack.ts'
import { changedSince, getTask, patchTask, sendAll } from './task-requests.ts'
import { type Edit, notUndone, retryable, undoEdits } from './undo-edits.ts'

/**
 * An entry of the undo stack for changes of tasks.
 * @param edits what was changed, as soon as the service has said.
 */
export function undoEntryFor(cache: QueryClient, sentence: string, edits: Promise<Edit[]>): UndoEntry {
  return {
    sentence,
    async undo() {
      const made = await edits
      if (made.length === 0) return { isEmpty: true }
      const result = await undoEdits(made, {
        changedSince,
        get: getTask,
        patch: patchTask,
        sendBatches: sendAll,
      })
      replaceTasks(cache, result.undone)
      const rest = retryable(result)
      return {
        notUndone: notUndone(made.length, result),
        ...(rest.length > 0 && { rest: undoEntryFor(cache, sentence, Promise.resolve(rest)) }),
      }
    },
  }
}
