import { expect, test } from 'vitest'
import { replaceJsonItems } from '../../src/lib/json-items.ts'

const object = {
  before: [{ id: 0 }],
  data: [
    { id: 1, text: '"data":[{"id":9}], \\" 👍 ü' },
    { id: 2, text: '' },
    { id: 3, data: [{ id: 8 }] },
  ],
  after: 3,
}
const replaced = async (parts: string[], itemsOf = 'data') => {
  let text = ''
  const replace = ({ id }: { id: number }) => ({ id: -id })
  for await (const part of replaceJsonItems(parts, { itemsOf, replace })) text += part
  return JSON.parse(text)
}

test('each item of the array is replaced, and nothing else', async () => {
  expect(await replaced([JSON.stringify(object)])).toEqual({
    ...object,
    data: [{ id: -1 }, { id: -2 }, { id: -3 }],
  })
})

test('the text may come in parts of any length', async () => {
  for (const length of [1, 2, 7, 50]) {
    const parts = JSON.stringify(object).match(new RegExp(`.{1,${length}}`, 'gu')) ?? []
    expect(await replaced(parts)).toEqual(await replaced([JSON.stringify(object)]))
  }
})

test('an item longer than what is scanned in one go is replaced', async () => {
  const long = { data: [{ id: 1, text: '👍'.repeat(200_000) }, { id: 2 }] }
  expect(await replaced([JSON.stringify(long)])).toEqual({ data: [{ id: -1 }, { id: -2 }] })
})

test('without the array nothing is replaced', async () => {
  expect(await replaced(['{"data":[],"after":1}'])).toEqual({ data: [], after: 1 })
  expect(await replaced([JSON.stringify(object)], 'results')).toEqual(object)
})

test('no more is taken than is needed for the next item', async () => {
  let taken = 0
  async function* parts() {
    for (const part of ['{"data":[{"id":1},', '{"id":2},', '{"id":3}]}']) {
      taken++
      yield part
    }
  }
  await replaceJsonItems(parts(), { itemsOf: 'data', replace: (item) => item }).next()
  expect(taken).toBe(1)
})
