import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonScan } from '../../src/lib/json-scan.ts'

/** The bytes of a text in pieces, as a socket has them. */
function* inPieces(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

function scanned(text: string, { size = 1_000, maxValues = 1_000_000, maxDepth = 1_000 } = {}) {
  const scan = jsonScan({ maxValues, maxDepth })
  for (const piece of inPieces(text, size)) if (!scan.push(piece)) break
  return scan
}

describe('a scan of JSON', () => {
  test.each([
    ['1', 1],
    ['{}', 2],
    ['[1,2,3]', 4],
    ['{"a":[{},{}],"b":"[,{,"}', 7],
    ['"a,\\",[{\\\\",[', 3],
  ])('counts at least every value of %s, and none inside of a text', (text, values) => {
    for (const size of [1, 2, 3, 1_000]) expect(scanned(text, { size }).values).toBe(values)
  })

  test('counts any JSON alike, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const text = JSON.stringify({ x: value })
        expect(scanned(text, { size }).values).toBe(scanned(text).values)
        expect(scanned(text).values).toBeGreaterThanOrEqual(countOf(value))
      }),
    )
  })

  test('ends at the first value too many, and reports in which member it was', () => {
    const text = `{"few":[1,2],"m\\u0061ny":[${'{},'.repeat(1_000)}1],"behind":1}`
    for (const size of [1, 7, 10_000]) {
      const scan = scanned(text, { maxValues: 100, size })
      expect(scan.values).toBe(101)
      expect(scan.member).toBe('many')
    }
  })

  test('ends at the first value too deep, and not for texts that look so', () => {
    const nested = (depth: number) => `{"deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    for (const size of [1, 7, 10_000]) {
      expect(scanned(nested(50), { maxDepth: 50, size }).isTooDeep).toBe(false)
      const scan = scanned(nested(51), { maxDepth: 50, size })
      expect([scan.isTooDeep, scan.member]).toEqual([true, 'deep'])
      expect(scanned(JSON.stringify({ text: nested(51) }), { maxDepth: 50, size }).isTooDeep).toBe(false)
    }
  })
})

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1)
}
