import { expect, test } from 'vitest'
import { defaultProjectOf } from '../../src/services/place.ts'

const [ONE, OTHER] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']

test('a request that names no project means the only one in reach, or none if all are', () => {
  expect(defaultProjectOf({ projectIds: [ONE] })).toBe(ONE)
  expect(defaultProjectOf({ projectIds: null })).toBeNull()
})

test('a request has to name a project if several are in reach', () => {
  expect(() => defaultProjectOf({ projectIds: [ONE, OTHER] }, '/listId')).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      extras: expect.objectContaining({
        errors: [expect.objectContaining({ path: '/listId', code: 'required' })],
      }),
    }),
  )
})
