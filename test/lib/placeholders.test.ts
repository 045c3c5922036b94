import { expect, test } from 'vitest'
import { placeholders } from '../../src/lib/placeholders.ts'

async function* pieces(...texts: string[]) {
  yield* texts
}

async function textOf(parts: AsyncIterable<string>) {
  let text = ''
  for await (const part of parts) text += part
  return text
}

test('parts replace their markers, wherever the serializer put them', async () => {
  const { asText, asObject, fill, isEmpty } = placeholders()
  expect(isEmpty()).toBe(true)
  const [first, second] = [asText(() => pieces('"a', 'b"')), asObject(() => pieces('{"c":', '1}'))]

  const text = await textOf(fill(JSON.stringify([{ second, first }, first])))

  expect(JSON.parse(text)).toEqual([{ second: { c: 1 }, first: 'ab' }, 'ab'])
  expect(isEmpty()).toBe(false)
})

test('other texts that look like markers stay as they are', async () => {
  const { asText, fill } = placeholders()
  const uuid = '019aa3d2-6f4e-7cc0-a1b2-000000000000'
  const message = { id: uuid, [uuid]: true, nested: { [uuid]: true }, text: asText(() => pieces('"x"')) }

  expect(JSON.parse(await textOf(fill(JSON.stringify(message))))).toEqual({ ...message, text: 'x' })
})

test('a part is made when it is its turn', async () => {
  const { asText, fill } = placeholders()
  const made: number[] = []
  const part = (number: number) =>
    asText(() => {
      made.push(number)
      return pieces('""')
    })
  const filling = fill(JSON.stringify([part(1), part(2)]))
  await filling.next()
  expect(made).toEqual([])
  await filling.next()
  expect(made).toEqual([1])
})
