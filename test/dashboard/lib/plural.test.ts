import { describe, expect, test } from 'vitest'
import { plural } from '../../../src/dashboard/lib/plural.ts'

describe('a count with a noun', () => {
  test.each([
    [0, '0 entries'],
    [1, '1 entry'],
    [2, '2 entries'],
  ])('is singular or plural: %d', (count, words) => {
    expect(plural(count, 'entry', 'entries')).toBe(words)
  })
})
