import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces, jsonTextPieces } from '../../src/lib/json-pieces.ts'
import { timeSlices } from '../../src/lib/time-slices.ts'

const piecesOf = (object: object) => collected(jsonPieces(object))

async function collected(pieces: AsyncIterable<string>) {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

test('pieces of JSON make up the JSON of the object', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (object) => {
      expect((await piecesOf(object)).join('')).toBe(JSON.stringify(object))
    }),
  )
  expect((await piecesOf({ a: undefined, b: 1 })).join('')).toBe('{"b":1}')
})

test('pieces of a text make up its JSON string', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), async (texts) => {
      expect((await collected(jsonTextPieces(texts))).join('')).toBe(JSON.stringify(texts.join('')))
    }),
  )
})

test('each item of an array is a piece of its own', async () => {
  const items = Array.from({ length: 50 }, (_, n) => ({ text: 'x'.repeat(1_000), n }))
  const pieces = await piecesOf({ items, count: 50 })
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_100)
})

test('work of many steps gives way to what is due', async () => {
  const yieldWhenDue = timeSlices(5)
  let isDue = false
  setImmediate(() => {
    isDue = true
  })
  const until = performance.now() + 5_000
  while (!isDue && performance.now() < until) await yieldWhenDue()
  expect(isDue).toBe(true)
})
