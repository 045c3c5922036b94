import { describe, expect, test } from 'vitest'
import { errorChain, errorType } from '../../src/lib/error-chain.ts'

const messages = (error: unknown) => errorChain(error).map(({ message }) => message)

describe('the chain of an error', () => {
  test('begins with the innermost cause', () => {
    const error = new Error('outer', { cause: new Error('middle', { cause: new Error('inner') }) })
    expect(messages(error)).toEqual(['inner', 'middle', 'outer'])
  })

  test('contains the members of an AggregateError in order, before the error itself', () => {
    const error = new Error('outer', {
      cause: new AggregateError(
        [new Error('first', { cause: new Error('of first') }), new Error('second')],
        'both',
      ),
    })
    expect(messages(error)).toEqual(['of first', 'first', 'second', 'both', 'outer'])
  })

  test.each([
    ['a text', 'text'],
    ['nothing', undefined],
    ['null', null],
  ])('of %s is empty', (_, thrown) => {
    expect(errorChain(thrown)).toEqual([])
  })
})

test.each([
  [
    'the innermost code',
    new Error('outer', { cause: Object.assign(new Error('inner'), { code: '23505' }) }),
    '23505',
  ],
  ['otherwise the innermost name', new Error('outer', { cause: new TypeError('inner') }), 'TypeError'],
  ['Error for what is none', 'text', 'Error'],
])('the type of an error is %s', (_, error, type) => {
  expect(errorType(error)).toBe(type)
})
