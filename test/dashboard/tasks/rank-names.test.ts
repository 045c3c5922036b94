import { expect, test } from 'vitest'
import { rankNames } from '../../../src/dashboard/tasks/rank-names.ts'

const MOST_USED_FIRST = ['debugging', 'bug-report', 'UI', 'Bug', 'bugfix']

test('suggestions are ordered by exact match, prefix and use', () => {
  expect(rankNames(MOST_USED_FIRST, 'bug')).toEqual(['Bug', 'bug-report', 'bugfix', 'debugging'])
})

test('suggestions without input keep their order', () => {
  expect(rankNames(MOST_USED_FIRST, ' ')).toEqual(MOST_USED_FIRST)
})

test('input without a match has no suggestions', () => {
  expect(rankNames(MOST_USED_FIRST, 'crash')).toEqual([])
})
