import { afterEach, describe, expect, test } from 'vitest'
import { type SideThread, sideThread } from '../../src/lib/side-thread.ts'
import type { jobs } from './side-thread-jobs.ts'

let thread: SideThread<typeof jobs>
afterEach(() => thread.close())

const full = new Error('full')
interface Options {
  file?: URL
  deadlineMs?: number
  startDeadlineMs?: number
  idleMs?: number
  maxWaitingBytes?: number
}
const JOBS = new URL('./side-thread-jobs.ts', import.meta.url)
const SLOW_START = new URL('./side-thread-slow-start.ts', import.meta.url)

const start = ({ file = JOBS, ...options }: Options = {}) => {
  thread = sideThread<typeof jobs>({
    file,
    maxHeapMb: 32,
    failureOf: (cause, isOfJob) => new Error(isOfJob ? 'The job failed.' : 'No thread.', { cause }),
    refusalWhenFull: () => full,
    ...options,
  })
  return thread
}

describe('a thread beside the event loop', () => {
  test('runs jobs in order of arrival, and takes over transferred bytes', async () => {
    const { run } = start()
    const bytes = new Uint8Array(1_000)
    const done: number[] = []

    await Promise.all([
      ...[1, 2, 3].map((n) => run('double', { input: n }).then((result) => done.push(result))),
      run('lengthOf', { input: bytes, transfer: [bytes.buffer] }).then((result) => done.push(result)),
    ])

    expect(done).toEqual([2, 4, 6, 1_000])
    expect(bytes.length).toBe(0)
    const lent = Uint8Array.from([1, 2, 3])
    expect((await run('reversed', { input: lent, transfer: [lent.buffer] })).bytes).toEqual(
      Uint8Array.from([3, 2, 1]),
    )
  })

  test('reports what a job threw, and runs the next', async () => {
    const { run } = start()
    await expect(run('fail', { input: 'no' })).rejects.toThrow('no')
    expect(await run('double', { input: 2 })).toBe(4)
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
      await run('double', { input: 1 })

      const failed = run(name, { input: input as never })
      const waits = run('double', { input: 4 })

      await expect(failed).rejects.toThrow('The job failed.')
      expect(await waits).toBe(8)
    },
  )

  test('may take longer to start than a job may take', async () => {
    const { run } = start({ file: SLOW_START, deadlineMs: 1_000 })
    expect(await run('double', { input: 1 })).toBe(2)
  })

  test('that does not start in time fails the first job', async () => {
    const { run } = start({ file: SLOW_START, startDeadlineMs: 100 })
    await expect(run('double', { input: 1 })).rejects.toThrow('No thread.')
  })

  test('ends when it is idle, and starts again', async () => {
    const { run } = start({ idleMs: 1 })
    for (const n of [1, 2, 3]) {
      expect(await run('double', { input: n })).toBe(2 * n)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  test('refuses jobs past the maximum of waiting bytes, and accepts more when those are done', async () => {
    const { run } = start({ maxWaitingBytes: 100 })
    const lengthOf = (bytes: number) => run('lengthOf', { input: new Uint8Array(bytes) })

    const taken = [lengthOf(80), lengthOf(80), lengthOf(20)]
    await expect(lengthOf(1)).rejects.toBe(full)

    expect(await Promise.all(taken)).toEqual([80, 80, 20])
    expect(await lengthOf(500)).toBe(500)
  })

  test('fails unfinished jobs when it is closed', async () => {
    const { run, close } = start()
    const failed = Promise.allSettled([run('spin', { input: null }), run('double', { input: 1 })])
    await close()
    const failure = { status: 'rejected', reason: new Error('No thread.') }
    expect(await failed).toEqual([failure, failure])
  })
})
