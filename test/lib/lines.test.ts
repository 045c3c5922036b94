import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linesOf } from '../../src/lib/lines.ts'
import { allOf } from '../support/all-of.ts'

const read = async (chunks: Buffer[], maxBytes = 1_000) => {
  async function* arriving() {
    yield* chunks
  }
  const lines = linesOf(arriving(), { maxBytes, tooLong: () => new Error('too long') })
  return (await allOf(lines)).map(String)
}

test('lines are the same wherever the chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''))),
      fc.array(fc.nat(50)),
      async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
        expect(await read(chunks)).toEqual(lines)
      },
    ),
  )
})

test('a last line needs no line feed', async () => {
  expect(await read([Buffer.from('a\n\nb')])).toEqual(['a', '', 'b'])
})

test('a line that is too long is refused, whether it has ended or not', async () => {
  expect(await read([Buffer.from('abc\nab')], 3)).toEqual(['abc', 'ab'])
  await expect(read([Buffer.from('abcd\n')], 3)).rejects.toThrow('too long')
  await expect(read([Buffer.from('ab'), Buffer.from('cd')], 3)).rejects.toThrow('too long')
})
