import { afterEach, describe, expect, test } from 'vitest'
import { type SideThread, sideThread } from '../../src/lib/side-thread.ts'
import type { jobs } from './side-thread-jobs.ts'

let thread: SideThread<typeof jobs>
afterEach(() => thread.close())

interface Options {
  file?: URL
  deadlineMs?: number
  startDeadlineMs?: number
  idleMs?: number
}
const JOBS = new URL('./side-thread-jobs.ts', import.meta.url)
const SLOW_START = new URL('./side-thread-slow-start.ts', import.meta.url)

const start = ({ file = JOBS, ...options }: Options = {}) => {
  thread = sideThread<typeof jobs>({
    file,
    maxHeapMb: 32,
    failureOf: (cause, isOfJob) => new Error(isOfJob ? 'The job failed.' : 'No thread.', { cause }),
    ...options,
  })
  return thread
}

describe('a thread beside the event loop', () => {
  test('runs jobs in order of arrival', async () => {
    const { run } = start()
    const done: number[] = []
    await Promise.all([1, 2, 3].map((n) => run('double', n).then((result) => done.push(result))))
    expect(done).toEqual([2, 4, 6])
  })

  test('reports what a job threw, and runs the next', async () => {
    const { run } = start()
    await expect(run('fail', 'no')).rejects.toThrow('no')
    expect(await run('double', 2)).toBe(4)
  })

  test.each([
    ['ends', 'exit', 0],
    ['crashes', 'crash', 'boom'],
    ['needs more memory than it may', 'eat', 1e9],
    ['takes longer than it may', 'spin', null],
  ] as const)(
    'that %s fails the job at hand, keeps those that wait, and is replaced',
    async (_, name, input) => {
      const { run } = start({ deadlineMs: 3_000 })
      await run('double', 1)

      const failed = run(name, input as never)
      const waits = run('double', 4)

      await expect(failed).rejects.toThrow('The job failed.')
      expect(await waits).toBe(8)
    },
  )

  test('may take longer to start than a job may take', async () => {
    const { run } = start({ file: SLOW_START, deadlineMs: 1_000 })
    expect(await run('double', 1)).toBe(2)
  })

  test('that does not start in time fails the first job', async () => {
    const { run } = start({ file: SLOW_START, startDeadlineMs: 100 })
    await expect(run('double', 1)).rejects.toThrow('No thread.')
  })

  test('ends when it is idle, and starts again', async () => {
    const { run } = start({ idleMs: 1 })
    for (const n of [1, 2, 3]) {
      expect(await run('double', n)).toBe(2 * n)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  test('fails unfinished jobs when it is closed', async () => {
    const { run, close } = start()
    const failed = Promise.allSettled([run('spin', null), run('double', 1)])
    await close()
    const failure = { status: 'rejected', reason: new Error('No thread.') }
    expect(await failed).toEqual([failure, failure])
  })
})
