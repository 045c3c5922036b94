import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { deliveryUnavailable } from '../../src/errors/index.ts'
import { retryBuffer } from '../../src/lib/retry-buffer.ts'

const away = new Error('away')
const never = () => new Promise<never>(() => undefined)
const givenBuffer = (elapsedMs = 0) => {
  const buffer = retryBuffer({ isTransient: (error) => error === away, refusal: deliveryUnavailable })
  return <T>(work: () => Promise<T>) => buffer(elapsedMs, work)
}

describe('a delivery', () => {
  test('is retried until the database is available again', async () => {
    let tries = 0
    const result = await givenBuffer()(async () => {
      if (++tries < 4) throw away
      return 'done'
    })
    expect([result, tries]).toEqual(['done', 4])
  })

  test.each([
    ['away', () => Promise.reject(away)],
    ['silent', never],
  ])('is rejected after 2 s when the database remains %s, with Retry-After', async (_, work) => {
    const since = performance.now()
    await expect(givenBuffer()(work)).rejects.toMatchObject({
      code: 'unavailable',
      extras: { retryAfterSeconds: 2 },
    })
    expect(performance.now() - since).toBeGreaterThan(1_900)
    expect(performance.now() - since).toBeLessThan(2_600)
  })

  test('counts the time it has already waited, but for the last half second', async () => {
    const since = performance.now()
    await expect(givenBuffer(1_900)(never)).rejects.toMatchObject({ code: 'unavailable' })
    expect(performance.now() - since).toBeLessThan(1_500)
  })

  test('that fails for another reason fails at once', async () => {
    const error = new Error('ours')
    let tries = 0
    const work = () => Promise.reject(++tries && error)
    await expect(givenBuffer()(work)).rejects.toBe(error)
    expect(tries).toBe(1)
  })
})

test('at most 500 deliveries wait; later ones wait when those are done', async () => {
  const one = givenBuffer()
  let refused = 0
  const buffered = Array.from({ length: 600 }, () => one(() => Promise.reject(away)).catch(() => refused++))
  await sleep(300)
  expect(refused).toBe(100)
  await expect(one(never)).rejects.toMatchObject({ code: 'unavailable' })

  await Promise.all(buffered)
  expect(refused).toBe(600)
  expect(await one(async () => 'done')).toBe('done')
})

test('more deliveries are accepted while the database responds', async () => {
  const one = givenBuffer()
  const crowd = Array.from({ length: 3_000 }, () => one(() => sleep(50, 'done')))
  expect(new Set(await Promise.all(crowd))).toEqual(new Set(['done']))
})
