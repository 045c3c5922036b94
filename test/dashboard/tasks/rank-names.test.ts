import { expect, test } from 'vitest'
import { rankNames } from '../../../src/dashboard/tasks/rank-names.ts'

const MOST_USED_FIRST = ['debugging', 'bug-report', 'UI', 'Bug', 'bugfix']

test('names are suggested by what was typed: the same first, then its continuations, then by use', () => {
  expect(rankNames(MOST_USED_FIRST, 'bug')).toEqual(['Bug', 'bug-report', 'bugfix', 'debugging'])
})

test('nothing typed leaves the most used first', () => {
  expect(rankNames(MOST_USED_FIRST, ' ')).toEqual(MOST_USED_FIRST)
})

test('what is in no name is suggested by none', () => {
  expect(rankNames(MOST_USED_FIRST, 'crash')).toEqual([])
})
