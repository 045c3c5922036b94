import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { inOrder } from '../../src/lib/in-order.ts'

interface Item {
  id: number
  key: string | null
}

const items = (...keys: (string | null)[]): Item[] => keys.map((key, id) => ({ id, key }))

/** Work that a test ends item by item. */
function controlled(given: Item[], concurrency: number) {
  const started: number[] = []
  const ends = new Map<number, { resolve(): void; reject(error: Error): void }>()
  let isOpen = true
  const done = inOrder(given, {
    keyOf: ({ key }) => key,
    concurrency,
    mayContinue: () => isOpen,
    work: ({ id }) => {
      started.push(id)
      return new Promise<void>((resolve, reject) => ends.set(id, { resolve, reject }))
    },
  })
  return {
    started,
    done,
    async end(id: number, error?: Error) {
      if (error) ends.get(id)?.reject(error)
      else ends.get(id)?.resolve()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    },
    stop() {
      isOpen = false
    },
  }
}

describe('work in order', () => {
  test('takes as many items at the same time as allowed', async () => {
    const { started, end, done } = controlled(items('a', 'b', 'c'), 2)
    expect(started).toEqual([0, 1])
    await end(1)
    expect(started).toEqual([0, 1, 2])
    await end(0)
    await end(2)
    await done
  })

  test('keeps the order of items with the same key, and passes those that wait', async () => {
    const { started, end, done } = controlled(items('a', 'a', 'b', 'a'), 3)
    expect(started).toEqual([0, 2])
    await end(2)
    expect(started).toEqual([0, 2])
    await end(0)
    expect(started).toEqual([0, 2, 1])
    await end(1)
    await end(3)
    await done
    expect(started).toEqual([0, 2, 1, 3])
  })

  test('does not delay items without a key', async () => {
    const { started, end, done } = controlled(items(null, null, null), 3)
    expect(started).toEqual([0, 1, 2])
    for (const id of [0, 1, 2]) await end(id)
    await done
  })

  test('starts nothing more once it is stopped, and waits for what it started', async () => {
    const { started, stop, end, done } = controlled(items('a', 'b', 'c'), 2)
    stop()
    await end(0)
    expect(started).toEqual([0, 1])
    await end(1)
    await done
  })

  test('rejects with the first error, after what it started has ended', async () => {
    const { started, end, done } = controlled(items('a', 'b', 'c'), 2)
    let isDone = false
    const ended = done
      .catch((error) => error)
      .finally(() => {
        isDone = true
      })
    await end(0, new Error('first'))
    expect([started, isDone]).toEqual([[0, 1], false])
    await end(1, new Error('second'))
    expect(await ended).toEqual(new Error('first'))
    expect(started).toEqual([0, 1])
  })
})
