interface InOrderOptions<T> {
  /** Items with the same key are worked on one after another; those without one, in any order. */
  keyOf(item: T): string | null
  /** Maximum of items at the same time. */
  concurrency: number
  /** Asked before each item: false leaves the rest. */
  mayContinue(): boolean
}

/** Works on items concurrently, those of the same key in their order. Waits for those that were started, also if one fails. */
export async function inOrder<T>(
  items: readonly T[],
  { keyOf, concurrency, mayContinue, work }: InOrderOptions<T> & { work(item: T): Promise<unknown> },
): Promise<void> {
  const waiting = [...items]
  const busy = new Set<string>()
  const working = new Set<Promise<void>>()
  const errors: unknown[] = []
  while (true) {
    while (working.size < concurrency && errors.length === 0 && mayContinue()) {
      const index = waiting.findIndex((item) => !busy.has(keyOf(item) ?? ''))
      const [item] = index < 0 ? [] : waiting.splice(index, 1)
      if (item === undefined) break
      start(item)
    }
    if (working.size === 0) break
    await Promise.race(working)
  }
  if (errors.length > 0) throw errors[0]

  function start(item: T): void {
    const key = keyOf(item)
    if (key !== null) busy.add(key)
    const ended = work(item)
      .catch((error) => {
        errors.push(error)
      })
      .then(() => {
        if (key !== null) busy.delete(key)
        working.delete(ended)
      })
    working.add(ended)
  }
}
