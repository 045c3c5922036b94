import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { inOrder } from '../../src/lib/in-order.ts'

interface Item {
  id: number
  key: string | null
}

type Page = { items: Item[]; isEnd: boolean }

const items = (...keys: (string | null)[]): Item[] => keys.map((key, id) => ({ id, key }))

/** Reads and work that a test ends one by one. */
function controlled({ concurrency = 2, readBelow = 1 } = {}) {
  const started: number[] = []
  const ends = new Map<number, PromiseWithResolvers<void>>()
  const reads: PromiseWithResolvers<Page>[] = []
  let mayContinue = true
  let mayStart = true
  const work = inOrder<Item>({
    read() {
      const page = Promise.withResolvers<Page>()
      reads.push(page)
      return page.promise
    },
    readBelow,
    keyOf: ({ key }) => key,
    concurrency,
    mayStart: () => mayStart,
    mayContinue: () => mayContinue,
    work({ id }) {
      started.push(id)
      const end = Promise.withResolvers<void>()
      ends.set(id, end)
      return end.promise
    },
  })
  let outcome: unknown
  work.done.then(
    () => {
      outcome = 'done'
    },
    (error) => {
      outcome = error
    },
  )
  return {
    started,
    ...work,
    outcome: () => outcome,
    reads: () => reads.length,
    async page(items: Item[], { isEnd = true } = {}) {
      reads.at(-1)?.resolve({ items, isEnd })
      await settled()
    },
    async failToRead(error: Error) {
      reads.at(-1)?.reject(error)
      await settled()
    },
    async end(id: number, error?: Error) {
      if (error) ends.get(id)?.reject(error)
      else ends.get(id)?.resolve()
      await settled()
    },
    leaveRest() {
      mayContinue = false
    },
    pause(isPaused: boolean) {
      mayStart = !isPaused
    },
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}

describe('work in order', () => {
  test('takes as many items at the same time as allowed', async () => {
    const { page, started, end, outcome } = controlled()
    await page(items('a', 'b', 'c'))
    expect(started).toEqual([0, 1])
    await end(1)
    expect(started).toEqual([0, 1, 2])
    await end(0)
    expect(outcome()).toBeUndefined()
    await end(2)
    expect(outcome()).toBe('done')
  })

  test('keeps the order of items with the same key, and passes those that wait', async () => {
    const { page, started, end, outcome } = controlled({ concurrency: 3 })
    await page(items('a', 'a', 'b', 'a'))
    expect(started).toEqual([0, 2])
    await end(2)
    expect(started).toEqual([0, 2])
    await end(0)
    expect(started).toEqual([0, 2, 1])
    await end(1)
    await end(3)
    expect([started, outcome()]).toEqual([[0, 2, 1, 3], 'done'])
  })

  test('does not delay items without a key', async () => {
    const { page, started } = controlled({ concurrency: 3 })
    await page(items(null, null, null))
    expect(started).toEqual([0, 1, 2])
  })

  test('starts nothing more once it is stopped, and waits for what it started', async () => {
    const { page, started, leaveRest, end, outcome } = controlled()
    await page(items('a', 'b', 'c'), { isEnd: false })
    leaveRest()
    await end(0)
    expect([started, outcome()]).toEqual([[0, 1], undefined])
    await end(1)
    expect([started, outcome()]).toEqual([[0, 1], 'done'])
  })

  test('pauses while nothing may start', async () => {
    const { page, started, pause, resume, end, outcome } = controlled()
    pause(true)
    await page(items('a'))
    expect([started, outcome()]).toEqual([[], undefined])
    pause(false)
    resume()
    await end(0)
    expect([started, outcome()]).toEqual([[0], 'done'])
  })

  test('rejects with the first error, after what it started has ended', async () => {
    const { page, started, end, outcome } = controlled()
    await page(items('a', 'b', 'c'))
    await end(0, new Error('first'))
    expect([started, outcome()]).toEqual([[0, 1], undefined])
    await end(1, new Error('second'))
    expect(started).toEqual([0, 1])
    expect(outcome()).toEqual(new Error('first'))
  })
})

describe('reading in order', () => {
  test('goes on while items are worked on, when few wait', async () => {
    const { page, reads, started, end, outcome } = controlled({ readBelow: 2 })
    await page(items('a', 'b', 'c', 'd'), { isEnd: false })
    expect(reads()).toBe(1)
    await end(0)
    expect(reads()).toBe(2)
    await page([{ id: 4, key: 'e' }])
    for (const id of [1, 2, 3, 4]) await end(id)
    expect([started, reads(), outcome()]).toEqual([[0, 1, 2, 3, 4], 2, 'done'])
  })

  test('ends with the last page, unless there may be more', async () => {
    const { page, reads, readOn, started, end, outcome } = controlled()
    await page(items('a'))
    expect(reads()).toBe(1)
    readOn()
    expect(reads()).toBe(2)
    await page([{ id: 1, key: 'a' }])
    await end(0)
    await end(1)
    expect([started, reads(), outcome()]).toEqual([[0, 1], 2, 'done'])
    readOn()
    expect(reads()).toBe(2)
  })

  test('is repeated if there may be more since it began', async () => {
    const { page, reads, readOn, outcome } = controlled()
    readOn()
    await page([])
    expect([reads(), outcome()]).toEqual([2, undefined])
    await page([])
    expect(outcome()).toBe('done')
  })

  test('rejects if it fails, after what was started has ended', async () => {
    const { page, failToRead, end, outcome } = controlled()
    await page(items('a'), { isEnd: false })
    await failToRead(new Error('unreadable'))
    expect(outcome()).toBeUndefined()
    await end(0)
    expect(outcome()).toEqual(new Error('unreadable'))
  })
})
