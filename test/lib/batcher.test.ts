import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { batcher } from '../../src/lib/batcher.ts'

const options = {
  name: 'work',
  maxItems: 3,
  concurrency: 1,
  maxBytes: 100,
  bytesOf: (input: number) => input,
  isForAll: (error: unknown) => error instanceof TypeError,
}

/** A batcher whose batches wait until they are released, and the batches that have started. */
function pausedBatcher(changed: Partial<typeof options> = {}) {
  const batches: { inputs: number[]; release: () => void }[] = []
  const call = batcher(
    (inputs: number[]) =>
      new Promise<string[]>((resolve) => {
        batches.push({ inputs, release: () => resolve(inputs.map((input) => `result ${input}`)) })
      }),
    { ...options, ...changed },
  )
  const releaseNext = async (index: number) => {
    await expect.poll(() => batches.length).toBeGreaterThan(index)
    batches[index]?.release()
  }
  return { call, batches, releaseNext, started: () => batches.map(({ inputs }) => inputs) }
}

describe('a batcher', () => {
  test('starts a single input before the next turn of the event loop', async () => {
    const { call, started, releaseNext } = pausedBatcher()
    const result = call(1)
    await nextTurn()
    expect(started()).toEqual([[1]])
    await releaseNext(0)
    expect(await result).toBe('result 1')
  })

  test('puts what arrives in one turn into one batch', async () => {
    const { call, started } = pausedBatcher()
    for (const input of [1, 2]) void call(input)
    await Promise.resolve()
    void call(3)
    await nextTurn()
    expect(started()).toEqual([[1, 2, 3]])
  })

  test('puts what arrives meanwhile into the next batches, in order, and returns each caller its own result', async () => {
    const { call, started, releaseNext } = pausedBatcher()
    const first = call(1)
    await nextTurn()
    const results = [first, ...[2, 3, 4, 5].map((input) => call(input))]
    for (const index of [0, 1, 2]) await releaseNext(index)
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((input) => `result ${input}`))
    expect(started()).toEqual([[1], [2, 3, 4], [5]])
  })

  test('runs as many batches at a time as it may', async () => {
    const { call, started } = pausedBatcher({ concurrency: 2 })
    for (const input of [1, 2, 3]) {
      void call(input)
      await nextTurn()
    }
    expect(started()).toEqual([[1], [2]])
  })

  test('limits the bytes of a batch, but for a single larger input', async () => {
    const { call, started, releaseNext } = pausedBatcher()
    const results = [1, 60, 40, 1, 200].map((input) => call(input))
    for (const index of [0, 1, 2]) await releaseNext(index)
    await Promise.all(results)
    expect(started()).toEqual([[1, 60], [40, 1], [200]])
  })

  test('tries the inputs of a failed batch one by one, so that only the bad one fails', async () => {
    const call = batcher(async (inputs: number[]) => {
      await Promise.resolve()
      if (inputs.includes(2)) throw new Error('bad')
      return inputs
    }, options)
    const results = await Promise.allSettled([0, 1, 2, 3].map((input) => call(input)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  })

  test('does not try again after an error that is the same for all', async () => {
    let calls = 0
    const call = batcher(async () => {
      calls++
      await Promise.resolve()
      throw new TypeError('away')
    }, options)
    const results = await Promise.allSettled([0, 1, 2, 3].map((input) => call(input)))
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(calls).toBe(2)
  })
})
