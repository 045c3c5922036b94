interface InOrderOptions<T> {
  /** The next items; `isEnd` if there are no more at present. */
  read(): Promise<{ items: T[]; isEnd: boolean }>
  /** Reads more when fewer items wait. */
  readBelow: number
  /** Items with the same key are worked on one after another; those without one, in any order. */
  keyOf(item: T): string | null
  /** Maximum of items at the same time. */
  concurrency: number
  /** Asked before each item. After false, call `resume`. */
  mayStart(): boolean
  /** Asked whenever something has ended: false leaves the rest. */
  mayContinue(): boolean
  work(item: T): Promise<void>
}

/**
 * Reads items and works on them concurrently, on those of the same key in their order. `done` resolves when it has come to
 * an end and what was started has ended, also if one fails: then it rejects.
 */
export function inOrder<T>(options: InOrderOptions<T>) {
  const { read, readBelow, keyOf, concurrency, mayStart, mayContinue, work } = options
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const waiting: T[] = []
  const busy = new Set<string>()
  const errors: unknown[] = []
  let working = 0
  let isReading = false
  let isEnd = false
  let isDone = false

  step()
  return {
    done,
    resume: step,
    /** There may be more items after the end. */
    readOn(): void {
      isEnd = false
      step()
    },
  }

  function step(): void {
    if (isDone) return
    const continues = errors.length === 0 && mayContinue()
    if (continues) {
      startWaiting()
      if (!isEnd && !isReading && waiting.length < readBelow) void readMore()
    }
    const isAtEnd = !continues || (isEnd && waiting.length === 0)
    if (working > 0 || isReading || !isAtEnd) return
    isDone = true
    if (errors.length > 0) reject(errors[0])
    else resolve()
  }

  function startWaiting(): void {
    while (working < concurrency && mayStart()) {
      const index = waiting.findIndex((item) => !busy.has(keyOf(item) ?? ''))
      const [item] = index < 0 ? [] : waiting.splice(index, 1)
      if (item === undefined) return
      void workOn(item)
    }
  }

  async function workOn(item: T): Promise<void> {
    const key = keyOf(item)
    if (key !== null) busy.add(key)
    working++
    try {
      await work(item)
    } catch (error) {
      errors.push(error)
    }
    if (key !== null) busy.delete(key)
    working--
    step()
  }

  async function readMore(): Promise<void> {
    isReading = true
    isEnd = true
    try {
      const page = await read()
      waiting.push(...page.items)
      if (!page.isEnd) isEnd = false
    } catch (error) {
      errors.push(error)
    }
    isReading = false
    step()
  }
}
