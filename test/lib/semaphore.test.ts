import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { semaphore } from '../../src/lib/semaphore.ts'

test('a semaphore runs as many works at once, in order, also after failures', async () => {
  const pass = semaphore(3)
  const begun: number[] = []
  let running = 0
  let most = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      pass(async () => {
        begun.push(index)
        most = Math.max(most, ++running)
        await sleep(index % 4)
        running--
        if (index % 5 === 0) throw new Error('failed')
        return index
      }),
    ),
  )

  expect(most).toBe(3)
  expect(begun).toEqual(begun.toSorted((a, b) => a - b))
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(6)
  expect(await pass(async () => 'still open')).toBe('still open')
})
