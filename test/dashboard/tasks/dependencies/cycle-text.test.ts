import { expect, test } from 'vitest'
import { cycleText } from '../../../../src/dashboard/tasks/dependencies/cycle-text.ts'

test.each([
  [['A', 'B'], '“A” can’t be blocked by “B”, because “B” is blocked by “A”.'],
  [['A', 'B', 'C'], '“A” can’t be blocked by “B”, because “B” is blocked by “C”, which is blocked by “A”.'],
  [
    ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'],
    '“A” can’t be blocked by “B”, because “B” is blocked by “C”, which is blocked by “D”, which is blocked by “E”, which is blocked by 3 more tasks, which is blocked by “A”.',
  ],
])('the cycle of %j in words', (titles, text) => {
  expect(cycleText(titles)).toBe(`${text} Remove one of these dependencies first.`)
})
