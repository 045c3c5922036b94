import { describe, expect, test } from 'vitest'
import { truncateUtf8 } from '../../src/lib/truncate-utf8.ts'

describe('a text truncated to bytes', () => {
  test.each([
    ['a text within the limit', 'abc', 9, 'abc'],
    ['a text of exactly the limit', 'äöü', 6, 'äöü'],
    ['a longer text', 'abcdef', 4, 'abcd'],
    ['a limit inside a character of two bytes', 'aäö', 4, 'aä'],
    ['a limit inside a character of four bytes', 'a😀', 4, 'a'],
    ['a limit before the first character ends', '😀', 3, ''],
    ['no bytes at all', 'abc', 0, ''],
  ])('%s', (_, text, maxBytes, expected) => {
    expect(truncateUtf8(text, maxBytes)).toBe(expected)
  })
})
