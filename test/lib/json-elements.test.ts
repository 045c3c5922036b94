import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonElements } from '../../src/lib/json-elements.ts'

/** The bytes of a text in chunks of so many, as a connection might cut them. */
async function* inChunks(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function elementsOf(text: string, size = 3) {
  const elements = []
  for await (const element of jsonElements(inChunks(text, size))) elements.push(element)
  return elements
}

describe('the elements of a list', () => {
  test('equal those of the list parsed at once, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(undefined, 2),
        async (list, size, indent) => {
          const text = JSON.stringify(list, null, indent)
          expect(await elementsOf(text, size)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  test.each([
    ['nothing', ''],
    ['an object', '{"message":"no"}'],
    ['a text', '"[1]"'],
    ['HTML', '<html>[1]</html>'],
    ['a list that is cut', '[{"a":1},{"b":2}'],
    ['a list that is cut in a text', '[{"a":"]'],
    ['a list with something after it', '[1] 2'],
    ['two lists', '[1][2]'],
    ['a list with a hole', '[1,,2]'],
    ['a list that ends with a comma', '[1,]'],
    ['a list of nothing but a comma', '[,]'],
    ['a list that another bracket closes', '[1}'],
    ['an element whose brackets do not match', '[{"a":[1}]]'],
    ['an element that is no JSON', '[nope]'],
    ['a list after a byte-order mark', '\uFEFF[1]'],
  ])('are refused of %s', async (_, text) => {
    await expect(elementsOf(text)).rejects.toThrow(SyntaxError)
  })

  test.each([
    ['before', ''],
    ['after', '[1]'],
  ])('are refused at once of what is no list, however much comes %s it', async (_, list) => {
    async function* endless() {
      yield Buffer.from(list)
      for (;;) yield Buffer.from('<p>')
    }
    const read = async () => {
      for await (const _ of jsonElements(endless()));
    }
    await expect(read()).rejects.toThrow('is not a list')
  })
})
