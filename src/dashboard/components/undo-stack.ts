/** Something done that can be undone. */
export interface UndoEntry {
  /** What was done, as it was said: "Done: Export fails". */
  sentence: string
  /** Undoes it; must not throw. */
  undo(): Promise<UndoResult>
}

export interface UndoResult {
  /** What was not undone, and why; undefined when all of it was. */
  notUndone?: string
  /** What is left of the entry and may be undone later, because only the way to the service failed. */
  rest?: UndoEntry
  /** Nothing was done in the first place, which was said already. */
  isEmpty?: boolean
}

interface UndoStackOptions {
  onUndone(entry: UndoEntry, result: UndoResult): void
  /** There is nothing left to undo. */
  onEmpty(): void
  maxEntries?: number
}

interface Numbered {
  number: number
  entry: UndoEntry
}

/** What was done in this tab, to be undone newest first, one at a time. */
export function createUndoStack({ onUndone, onEmpty, maxEntries = 100 }: UndoStackOptions) {
  let entries: Numbered[] = []
  let queue: Numbered[] = []
  let pushed = 0
  let isRunning = false

  function take(one: Numbered | undefined) {
    if (!one) return
    entries = entries.filter((other) => other !== one)
    queue.push(one)
    if (!isRunning) void run()
  }

  async function run() {
    isRunning = true
    for (let one = queue.shift(); one; one = queue.shift()) {
      const result = await one.entry.undo()
      if (result.rest) {
        // What is older rests on it: all that was asked for after it waits again as well.
        entries = [...entries, { ...one, entry: result.rest }, ...queue].sort((a, b) => a.number - b.number)
        queue = []
      }
      if (!result.isEmpty) onUndone(one.entry, result)
    }
    isRunning = false
  }

  return {
    push(entry: UndoEntry) {
      entries = [...entries, { number: ++pushed, entry }].slice(-maxEntries)
    },
    /** Forgets what turned out not to have been done. */
    drop(entry: UndoEntry) {
      entries = entries.filter((other) => other.entry !== entry)
    },
    has: (entry: UndoEntry) => entries.some((other) => other.entry === entry),
    undoLatest() {
      if (entries.length > 0) take(entries.at(-1))
      else if (queue.length === 0 && !isRunning) onEmpty()
    },
    /** Undoes this one, unless it is undone already. */
    undo(entry: UndoEntry) {
      take(entries.find((other) => other.entry === entry))
    },
  }
}
