import { describe, expect, test } from 'vitest'
import { plural } from '../../../src/dashboard/lib/plural.ts'

describe('a count with a noun', () => {
  test.each([
    [0, '0 tasks'],
    [1, '1 task'],
    [2, '2 tasks'],
  ])('is singular or plural: %d', (count, words) => {
    expect(plural(count, 'task')).toBe(words)
  })
})
