import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { deliveryUnavailable } from '../../src/errors/index.ts'
import { retryBuffer } from '../../src/lib/retry-buffer.ts'

const away = new Error('away')
const never = () => new Promise<never>(() => undefined)
const hold = (elapsedMs = 0) => {
  const buffer = retryBuffer({ isTransient: (error) => error === away, refusal: deliveryUnavailable })
  return <T>(work: () => Promise<T>) => buffer(elapsedMs, work)
}

describe('a delivery', () => {
  test('is tried again until the database is back', async () => {
    let tries = 0
    const answer = await hold()(async () => {
      if (++tries < 4) throw away
      return 'done'
    })
    expect([answer, tries]).toEqual(['done', 4])
  })

  test.each([
    ['away', () => Promise.reject(away)],
    ['silent', never],
  ])('is given up after 2 s when the database stays %s, and told when to come again', async (_, work) => {
    const since = performance.now()
    await expect(hold()(work)).rejects.toMatchObject({
      code: 'unavailable',
      extras: { retryAfterSeconds: 2 },
    })
    expect(performance.now() - since).toBeGreaterThan(1_900)
    expect(performance.now() - since).toBeLessThan(2_600)
  })

  test('has waited before: the time before it counts, but for a last half second', async () => {
    const since = performance.now()
    await expect(hold(1_900)(never)).rejects.toMatchObject({ code: 'unavailable' })
    expect(performance.now() - since).toBeLessThan(1_500)
  })

  test('that fails for another reason fails at once', async () => {
    const mistake = new Error('ours')
    let tries = 0
    const work = () => Promise.reject(++tries && mistake)
    await expect(hold()(work)).rejects.toBe(mistake)
    expect(tries).toBe(1)
  })
})

test('500 deliveries are held and no more; when they are gone there is room again', async () => {
  const one = hold()
  let refused = 0
  const held = Array.from({ length: 600 }, () => one(() => Promise.reject(away)).catch(() => refused++))
  await sleep(300)
  expect(refused).toBe(100)
  await expect(one(never)).rejects.toMatchObject({ code: 'unavailable' })

  await Promise.all(held)
  expect(refused).toBe(600)
  expect(await one(async () => 'done')).toBe('done')
})

test('a crowd is nothing to refuse while the database answers', async () => {
  const one = hold()
  const crowd = Array.from({ length: 3_000 }, () => one(() => sleep(50, 'done')))
  expect(new Set(await Promise.all(crowd))).toEqual(new Set(['done']))
})
