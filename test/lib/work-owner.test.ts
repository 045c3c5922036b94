import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { batcher } from '../../src/lib/batcher.ts'
import { ownedBy, type WorkOwner, workOwner } from '../../src/lib/work-owner.ts'

const owner = (name: string): WorkOwner => ({ kind: 'caller', name })

test('work has its owner through awaits, and none outside', async () => {
  const seen = await Promise.all(
    ['a', 'b'].map((name) =>
      ownedBy(owner(name), async () => {
        await nextTurn()
        return workOwner()?.name
      }),
    ),
  )
  expect(seen).toEqual(['a', 'b'])
  expect(workOwner()).toBeUndefined()
})

test('a batch has no owner, and each input keeps its own afterwards', async () => {
  const seen: unknown[] = []
  const call = batcher(
    async (inputs: string[]) => {
      await nextTurn()
      seen.push([inputs, workOwner()])
      return inputs
    },
    { name: 'work', maxItems: 2, concurrency: 1, maxBytes: 100, bytesOf: () => 1, isForAll: () => true },
  )
  const owners = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      ownedBy(owner(name), async () => {
        await call(name)
        return workOwner()?.name
      }),
    ),
  )
  expect(seen).toEqual([
    [['a', 'b'], undefined],
    [['c'], undefined],
  ])
  expect(owners).toEqual(['a', 'b', 'c'])
})
