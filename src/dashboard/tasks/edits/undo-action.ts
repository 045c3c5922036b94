import type { QueryClient } from '@tanstack/react-query'
import { recordsOf } from '../../api/task-records.ts'
import type { UndoAction } from '../../components/undo-stack.ts'
import { type Edit, keptText, retryable, undoEdits, undoFailureText } from './undo-edits.ts'
import { undoIoOf } from './undo-io.ts'

interface UndoOptions {
  queryClient: QueryClient
  label: string
  /** Resolves when the service has responded. */
  edits: Promise<Edit[]>
}

/** The undo action of task edits. */
export function undoActionFor({ queryClient, label, edits }: UndoOptions): UndoAction {
  return {
    label,
    async undo() {
      const doneEdits = await edits
      if (doneEdits.length === 0) return { isEmpty: true }
      const receive = recordsOf(queryClient).request()
      const result = await undoEdits(doneEdits, undoIoOf(queryClient))
      receive(result.undone)
      const remaining = retryable(result)
      return {
        failure: undoFailureText(doneEdits.length, result),
        kept: keptText(doneEdits.length, result),
        ...(remaining.length > 0 && {
          remaining: undoActionFor({ queryClient, label, edits: Promise.resolve(remaining) }),
        }),
      }
    },
  }
}
