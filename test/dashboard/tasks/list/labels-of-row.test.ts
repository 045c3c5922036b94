import { describe, expect, test } from 'vitest'
import type { TaskListItem } from '../../../../src/dashboard/api/queries.ts'
import { labelsOfRow } from '../../../../src/dashboard/tasks/list/labels-of-row.ts'

const shown = (source: TaskListItem['source'], labels: string[]) => labelsOfRow({ source, labels })

describe('the labels of a row', () => {
  test('of feedback are those that somebody added', () => {
    expect(shown('analytics', ['frustrated', 'manual'])).toEqual([])
    expect(shown('analytics', ['loved', 'after_purchase', 'crash', 'ios'])).toEqual(['crash', 'ios'])
  })

  test('of feedback are all but its sentiment, if somebody has put others in their place', () => {
    expect(shown('analytics', ['crash', 'meh'])).toEqual(['crash'])
    expect(shown('analytics', ['crash', 'ios'])).toEqual(['crash', 'ios'])
    expect(shown('analytics', [])).toEqual([])
  })

  test('of others are all', () => {
    expect(shown('codehost', ['frustrated', 'manual'])).toEqual(['frustrated', 'manual'])
    expect(shown('webhook', ['loved'])).toEqual(['loved'])
  })
})
