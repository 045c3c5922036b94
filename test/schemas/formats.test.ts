import { describe, expect, test } from 'vitest'
import { isJsonWithin } from '../../src/schemas/formats.ts'

const LIMITS = { maxBytes: 100, maxDepth: 3 }

/** An array or object that counts how many of its members were read. */
function watched<T extends object>(value: T) {
  let looks = 0
  const proxy = new Proxy(value, {
    get(target, name, receiver) {
      looks++
      return Reflect.get(target, name, receiver)
    },
  })
  return { proxy, looks: () => looks }
}

describe('JSON within limits', () => {
  test.each([
    [{}, true],
    [{ a: 'x'.repeat(92) }, true],
    [{ a: 'x'.repeat(93) }, false],
    [{ a: 'é'.repeat(46) }, true],
    [{ a: 'é'.repeat(47) }, false],
    [{ a: Array(46).fill(1) }, true],
    [{ a: Array(47).fill(1) }, false],
    [{ a: [[]] }, true],
    [{ a: [[[]]] }, false],
    [{ 'a\0': 1 }, false],
    [{ a: ['\ud800'] }, false],
    [{ a: Number.POSITIVE_INFINITY }, false],
  ])('is distinguished from what is larger, deeper or not storable in PostgreSQL: %j', (value, isWithin) => {
    expect(isJsonWithin(value, LIMITS)).toBe(isWithin)
  })

  test('is not checked beyond the first member that exceeds them', () => {
    const items = watched(Array(100_000).fill(1))
    const members = watched(Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`m${n}`, n])))

    expect(isJsonWithin({ a: items.proxy }, LIMITS)).toBe(false)
    expect(isJsonWithin(members.proxy, LIMITS)).toBe(false)

    expect(items.looks()).toBeLessThan(1_000)
    expect(members.looks()).toBeLessThan(100)
  })
})
