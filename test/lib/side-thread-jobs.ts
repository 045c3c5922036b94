import { serveJobs } from '../../src/lib/side-thread.ts'

export const jobs = {
  double: (number: number) => 2 * number,
  fail: (reason: string) => {
    throw new TypeError(reason)
  },
  exit: (code: number) => process.exit(code),
  crash: (reason: string) =>
    new Promise(() => {
      setImmediate(() => {
        throw new Error(reason)
      })
    }),
  eat: (size: number) => {
    const eaten: unknown[] = []
    for (let n = 0; n < size; n++) eaten.push({ n })
    return eaten.length
  },
  spin: (_: null) => {
    for (;;);
  },
}

serveJobs(jobs)
