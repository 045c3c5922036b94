import { describe, expect, test } from 'vitest'
import { largeBodyOf, readBulk } from '../../src/domain/bulk-reading.ts'
import { AppError } from '../../src/errors/index.ts'

const LIST = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

function read(text: string | Buffer) {
  const reading = readBulk(Buffer.from(text))
  if ('refusal' in reading) return reading.refusal
  const { itemAt } = largeBodyOf(reading)
  return { ...reading, items: reading.items.map((_, index) => itemAt(index)) }
}

const bulk = (tasks: unknown, others: object = {}) => JSON.stringify({ listId: LIST, tasks, ...others })

describe('a batch that is parsed item by item', () => {
  test('equals the batch parsed as a whole, trimmed and validated', () => {
    const tasks = [
      { title: ' A, "b" [ ', description: '}{\\"' },
      { title: 'ü😀', metadata: { a: [[], {}] } },
      { title: 'x', labels: [' y '] },
    ]
    const reading = read(` \n${JSON.stringify({ tasks, listId: LIST }, null, 2)}`)
    expect(reading).toMatchObject({
      listId: LIST,
      items: [
        { item: { title: 'A, "b" [', description: '}{\\"' } },
        { item: { title: 'ü😀', metadata: { a: [[], {}] } } },
        { item: { title: 'x', labels: ['y'] } },
      ],
    })
  })

  test('has an error for every invalid item, also for one that is not an object', () => {
    const reading = read(bulk([{ title: 'A' }, { title: '' }, 5, { title: 'B', nope: 1 }]))
    const refusals = (reading as { items: { refusal: AppError | undefined }[] }).items.map(
      ({ refusal }) => refusal,
    )
    expect(refusals.map((refusal) => refusal?.extras.errors?.map(({ path, code }) => [path, code]))).toEqual([
      undefined,
      [['/tasks/1/title', 'too_short']],
      [['/tasks/2', 'wrong_type']],
      [['/tasks/3/nope', 'unknown_field']],
    ])
    expect(refusals[1]).toBeInstanceOf(AppError)
  })

  test.each([
    ['nothing', '', 'invalid_json'],
    ['a cut one', bulk([{ title: 'A' }]).slice(0, -1), 'invalid_json'],
    ['a bad item', `{"listId":"${LIST}","tasks":[{"title":"A"},{"title":A}]}`, 'invalid_json'],
    ['brackets that cross', `{"listId":"${LIST}","tasks":[{"title":"A"],"x":1}}`, 'invalid_json'],
    ['a comma too many', `{"listId":"${LIST}","tasks":[{"title":"A"},]}`, 'invalid_json'],
    ['an item that is missing', `{"listId":"${LIST}","tasks":[,{"title":"A"}]}`, 'invalid_json'],
    ['something behind it', `${bulk([{ title: 'A' }])} 1`, 'invalid_json'],
    ['a poisoned item', `{"listId":"${LIST}","tasks":[{"title":"A","__proto__":{}}]}`, 'invalid_json'],
    ['a poisoned body', `{"listId":"${LIST}","__proto__":{},"tasks":[{"title":"A"}]}`, 'invalid_json'],
    ['no UTF-8', Buffer.concat([Buffer.from(bulk([{ title: 'A' }])), Buffer.from([0xff])]), 'invalid_json'],
    ['no UTF-8 in an item', Buffer.from(bulk([{ title: '\u00e9' }]), 'latin1'), 'invalid_json'],
    ['no list', JSON.stringify({ tasks: [{ title: 'A' }] }), 'validation_failed'],
    ['no tasks', JSON.stringify({ listId: LIST }), 'validation_failed'],
    ['an empty array', bulk([]), 'validation_failed'],
    ['101 tasks', bulk(Array(101).fill({ title: 'A' })), 'validation_failed'],
    ['2,000 tasks', bulk(Array(2_000).fill(0)), 'validation_failed'],
    ['tasks that are none', bulk({ 0: { title: 'A' } }), 'validation_failed'],
    ['an unknown member', bulk([{ title: 'A' }], { nope: [1] }), 'validation_failed'],
    ['an array', JSON.stringify([{ title: 'A' }]), 'validation_failed'],
  ])('is rejected like any other: %s', (_, text, code) => {
    expect(read(text)).toMatchObject({ code })
  })

  test('uses the last of repeated members', () => {
    const twice = `{"listId":"${LIST}","tasks":[{"title":"A"}],"tasks":[{"title":"B"},{"title":"C"}]}`
    expect(read(twice)).toMatchObject({ items: [{ item: { title: 'B' } }, { item: { title: 'C' } }] })
  })

  test('is identified by its content, not its white space', () => {
    const hashOf = (text: string) => (read(text) as { hash: string }).hash
    const body = { listId: LIST, tasks: [{ title: 'A' }, { title: 'B' }] }
    expect(hashOf(JSON.stringify(body, null, 1))).toBe(hashOf(JSON.stringify(body)))
    expect(hashOf(JSON.stringify({ ...body, tasks: [{ title: 'A' }, { title: 'C' }] }))).not.toBe(
      hashOf(JSON.stringify(body)),
    )
  })
})
