export interface UndoAction {
  /** For example "Done: Export fails". */
  label: string
  /** Only while its toast is shown: it should not be undone by chance, long after it was done. */
  endsWithToast?: true
  /** Must not throw. */
  undo(): Promise<UndoResult>
}

export interface UndoResult {
  /** Why part of the action was not undone; undefined when all of it was. */
  failure?: string | undefined
  /** What stays as the action has made it, although nothing failed. */
  kept?: string | undefined
  /** The part that may be undone later, because the failure was transient. */
  remaining?: UndoAction
  /** The original change failed, which was reported then. */
  isEmpty?: boolean
}

interface UndoStackOptions {
  onUndone(action: UndoAction, result: UndoResult): void
  onEmpty(): void
  maxActions?: number
}

interface StackItem {
  number: number
  action: UndoAction
}

/** Undoes actions of this tab one at a time, newest first. */
export function createUndoStack({ onUndone, onEmpty, maxActions = 100 }: UndoStackOptions) {
  let items: StackItem[] = []
  let queue: StackItem[] = []
  let lastNumber = 0
  let isRunning = false

  function enqueue(item: StackItem | undefined) {
    if (!item) return
    items = items.filter((other) => other !== item)
    queue.push(item)
    if (!isRunning) void run()
  }

  async function run() {
    isRunning = true
    for (let item = queue.shift(); item; item = queue.shift()) {
      const result = await item.action.undo()
      if (result.remaining) {
        // Older actions depend on it, so everything queued behind it goes back on the stack.
        items = [...items, { ...item, action: result.remaining }, ...queue].sort(
          (a, b) => a.number - b.number,
        )
        queue = []
      }
      if (!result.isEmpty) onUndone(item.action, result)
    }
    isRunning = false
  }

  return {
    push(action: UndoAction) {
      items = [...items, { number: ++lastNumber, action }].slice(-maxActions)
    },
    /** For an action that failed. */
    remove(action: UndoAction) {
      items = items.filter((other) => other.action !== action)
    },
    has: (action: UndoAction) => items.some((other) => other.action === action),
    undoLatest() {
      if (items.length > 0) enqueue(items.at(-1))
      else if (queue.length === 0 && !isRunning) onEmpty()
    },
    /** Does nothing when it is undone already. */
    undo(action: UndoAction) {
      enqueue(items.find((other) => other.action === action))
    },
  }
}
