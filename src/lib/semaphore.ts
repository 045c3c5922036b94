/** Limits how many tasks run at the same time; the others wait in order of arrival. */
export function semaphore(concurrency: number) {
  let running = 0
  const queue: (() => void)[] = []

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (running < concurrency) running++
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      // The slot passes directly to the next in the queue, so that a new caller cannot take it.
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
