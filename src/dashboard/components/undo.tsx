import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { isPassing, problemOf } from '../api/problem.ts'
import { toast } from './toast.ts'
import { createUndoStack, type UndoEntry } from './undo-stack.ts'

/** The toast on the page that offers to undo something. */
let shown: { id: string; entry: UndoEntry } | undefined
let count = 0

const stack = createUndoStack({
  onUndone(entry, { notUndone, rest }) {
    if (shown?.entry === entry) hide()
    if (!notUndone) toast.done(`Undone: ${quoted(entry)}`)
    else if (rest) offer(rest, { title: `Not undone: ${quoted(entry)}`, message: notUndone, color: 'red' })
    else toast.refused(`Not undone: ${quoted(entry)}`, notUndone)
  },
  onEmpty: () => toast.done('Nothing to undo.'),
})

/** Undoes what was done last in this tab, further back each time. */
export const undoLatest = stack.undoLatest

/**
 * Puts something on the undo stack while it is being done: whoever undoes at once means this. When it is done, its
 * sentence may be changed to what became of it, and a toast offers to undo it.
 */
export function beginUndoable(entry: UndoEntry) {
  stack.push(entry)
  return {
    done() {
      if (stack.has(entry)) offer(entry, { message: entry.sentence })
    },
    /** Nothing came of it. */
    drop: () => stack.drop(entry),
  }
}

/** Offers to undo what is done. */
export function undoable(entry: UndoEntry) {
  beginUndoable(entry).done()
}

/** What a request undoes. */
export function undoneBy(sentence: string, send: () => Promise<unknown>): UndoEntry {
  const entry: UndoEntry = {
    sentence,
    async undo() {
      try {
        await send()
        return {}
      } catch (error) {
        const problem = problemOf(error)
        return { notUndone: problem.message, ...(isPassing(problem) && { rest: entry }) }
      }
    },
  }
  return entry
}

interface Words {
  title?: string
  message: string
  color?: 'red'
}

function offer(entry: UndoEntry, { message, ...words }: Words) {
  hide()
  const id = `undo-${++count}`
  shown = { id, entry }
  notifications.show({
    ...words,
    id,
    message: undoButton(message, () => stack.undo(entry)),
    autoClose: 10_000,
    withBorder: true,
    onClose() {
      if (shown?.id === id) shown = undefined
    },
  })
}

function hide() {
  if (shown) notifications.hide(shown.id)
  shown = undefined
}

const quoted = ({ sentence }: UndoEntry) => `“${sentence.replace(/\.$/, '')}”`

const undoButton = (message: string, undo: () => void) => (
  <span className="row">
    <span className="breakable">{message}</span>
    <Button size="compact-sm" variant="subtle" onClick={undo} className="push">
      Undo
    </Button>
  </span>
)
