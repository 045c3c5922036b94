/** Lets so many works run at once; the others wait in line. */
export function semaphore(concurrency: number) {
  let running = 0
  const queue: (() => void)[] = []

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (running < concurrency) running++
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      // Who leaves hands its place on, so nobody who comes just now can slip in between.
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
