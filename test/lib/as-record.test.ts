import { expect, test } from 'vitest'
import { asRecord } from '../../src/lib/as-record.ts'

test('an object is a record of its members', () => {
  const value = { a: 1, b: { c: null } }
  expect(asRecord(value)).toBe(value)
})

test.each([[undefined], [null], [''], ['text'], [1], [true]])('%j has no members', (value) => {
  expect(asRecord(value)).toEqual({})
})
