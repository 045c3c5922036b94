/** Lets so many works run at once; the others wait in line. */
export function gate(width: number) {
  let running = 0
  const line: (() => void)[] = []

  return async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (running < width) running++
    else await new Promise<void>((resolve) => line.push(resolve))
    try {
      return await work()
    } finally {
      // Who leaves hands its place on, so nobody who comes just now can slip in between.
      const next = line.shift()
      if (next) next()
      else running--
    }
  }
}
