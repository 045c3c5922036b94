import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonScan } from '../../src/lib/json-scan.ts'

/** The bytes of a text in pieces, as a socket has them. */
function* inPieces(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

function scanned(text: string, { size = 1_000, maxValues = 1_000_000, itemsOf = 'items' } = {}) {
  const scan = jsonScan({ maxValues, itemsOf })
  for (const piece of inPieces(text, size)) if (!scan.push(piece)) break
  return scan
}

const itemsIn = (text: string, size?: number) => {
  const bytes = Buffer.from(text)
  return scanned(text, size === undefined ? {} : { size }).items.map(({ start, end }) =>
    bytes.toString('utf8', start, end).trim(),
  )
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

  test('finds the items of one member, as they are written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ stringUnit: 'grapheme' }), { maxLength: 5 }),
        fc.jsonValue(),
        fc.integer({ min: 1, max: 9 }),
        (items, other, size) => {
          const text = JSON.stringify({ other, items, last: { items: [1] } })
          expect(itemsIn(text, size)).toEqual(items.map((item) => JSON.stringify(item)))
        },
      ),
    )
  })

  test.each([
    ['{"items":[]}', []],
    ['{"items":[ \n]}', []],
    ['{"\\u0069tems": [ 1 , "," ] }', ['1', '","']],
    ['{"items":5,"x":[1]}', []],
    ['{"x":{"items":[1]}}', []],
    ['[{"items":[1]}]', []],
    ['{"items":[1],"items":[[2,3]]}', ['1', '[2,3]']],
    ['{"items":[,1]}', ['1']],
  ])('distinguishes items from what only looks like them: %s', (text, items) => {
    expect(itemsIn(text)).toEqual(items)
  })
})

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1)
}
