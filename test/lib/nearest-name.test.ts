import { expect, test } from 'vitest'
import { nearestName } from '../../src/lib/nearest-name.ts'

const KNOWN = ['title', 'description', 'listId', 'externalId', 'externalUrl', 'labels', 'q']

test.each([
  ['titel', 'title'],
  ['Title', 'title'],
  ['list_id', 'listId'],
  ['list', 'listId'],
  ['lables', 'labels'],
  ['external-url', 'externalUrl'],
  ['externalId2', 'externalId'],
  ['descripton', 'description'],
])('%s means %s', (name, meant) => {
  expect(nearestName(name, KNOWN)).toBe(meant)
})

test.each(['', 'x', 'color', 'dueDate', '__proto__', 'x'.repeat(100_000)])(
  '%.20s means none of them',
  (name) => {
    expect(nearestName(name, KNOWN)).toBeUndefined()
  },
)
