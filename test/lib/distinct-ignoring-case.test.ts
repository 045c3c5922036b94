import { expect, test } from 'vitest'
import { distinctIgnoringCase } from '../../src/lib/distinct-ignoring-case.ts'

test.each([
  [[], []],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['Bug', 'ios', 'bug', 'BUG', 'iOS'],
    ['Bug', 'ios'],
  ],
  [
    ['Größe', 'GRÖßE', 'a', 'a '],
    ['Größe', 'a', 'a '],
  ],
])('of %j only the first of each name stays: %j', (names, distinct) => {
  expect(distinctIgnoringCase(names)).toEqual(distinct)
})
