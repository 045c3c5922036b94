import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { isTransient, problemOf } from '../api/problem.ts'
import { toast } from './toast.ts'
import { createUndoStack, type UndoAction } from './undo-stack.ts'

/** The toast with the undo button; there is at most one. */
let visibleToast: { id: string; action: UndoAction } | undefined
let toastCount = 0

/** It takes longer to read. */
const PARTLY_UNDONE_MS = 12_000

const stack = createUndoStack({
  onUndone(action, { failure: failed, kept, remaining }) {
    if (visibleToast?.action === action) hideUndoToast()
    const failure = failed && [failed, kept].filter(Boolean).join(' ')
    if (!failure && kept) toast.info(`Undone in part: ${quotedLabel(action)}. ${kept}`, PARTLY_UNDONE_MS)
    else if (!failure) toast.info(`Undone: ${quotedLabel(action)}`)
    else if (remaining)
      showUndoToast(remaining, {
        title: `Couldn't undo ${quotedLabel(action)}`,
        message: failure,
        color: 'red',
      })
    else toast.error(`Couldn't undo ${quotedLabel(action)}`, failure)
  },
  onEmpty: () => toast.info('Nothing to undo'),
})

export const undoLatest = stack.undoLatest

/**
 * Pushes an action before it completes, so that an immediate undo applies to it. Its label may change until
 * `complete`, which shows the toast.
 */
export function beginUndoable(action: UndoAction) {
  stack.push(action)
  return {
    complete() {
      if (stack.has(action)) showUndoToast(action, { message: action.label })
    },
    /** For an action that failed. */
    discard: () => stack.remove(action),
  }
}

export function offerUndo(action: UndoAction) {
  beginUndoable(action).complete()
}

/** An action that one request undoes. */
export function undoRequest(label: string, send: () => Promise<unknown>): UndoAction {
  const action: UndoAction = {
    label,
    async undo() {
      try {
        await send()
        return {}
      } catch (error) {
        const problem = problemOf(error)
        return { failure: problem.message, ...(isTransient(problem) && { remaining: action }) }
      }
    },
  }
  return action
}

interface ToastContent {
  title?: string
  message: string
  color?: 'red'
}

function showUndoToast(action: UndoAction, { message, ...content }: ToastContent) {
  hideUndoToast()
  const id = `undo-${++toastCount}`
  visibleToast = { id, action }
  notifications.show({
    ...content,
    id,
    message: messageWithButton(message, { label: 'Undo', onClick: () => void stack.undo(action) }),
    autoClose: 10_000,
    withBorder: true,
    onClose() {
      if (visibleToast?.id === id) visibleToast = undefined
      if (action.endsWithToast) stack.remove(action)
    },
  })
}

function hideUndoToast() {
  if (visibleToast) notifications.hide(visibleToast.id)
  visibleToast = undefined
}

const quotedLabel = ({ label }: UndoAction) => `“${label.replace(/\.$/, '')}”`

export const messageWithButton = (message: string, button: { label: string; onClick(): void }) => (
  <span className="row">
    <span className="breakable">{message}</span>
    <Button size="compact-sm" variant="subtle" onClick={button.onClick} className="push">
      {button.label}
    </Button>
  </span>
)
