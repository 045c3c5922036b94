import type { TreeNodeData } from '@mantine/core'
import { expect, test } from 'vitest'
import { firstOpened, idOf, treeOf } from '../../../src/dashboard/settings/payload-nodes.ts'

/** The rows as they are shown, each indented as far as it is nested. */
function rowsOf(nodes: TreeNodeData[], indent = ''): string[] {
  return nodes.flatMap(({ nodeProps, children }) => {
    const { value, more } = nodeProps as Record<'value' | 'more', Record<string, unknown> | undefined>
    const text = value ? `${value.name}: ${value.text}` : `${more?.remaining} more`
    return [indent + text, ...rowsOf(children ?? [], `${indent}  `)]
  })
}

const shownOf = (payload: unknown, shown = {}) =>
  rowsOf(treeOf(payload, { opened: firstOpened(payload), shown }))

test('a small payload is shown as a whole', () => {
  const payload = { title: 'A "b"', html: '<b>', n: 1e21, no: null, yes: true, '': {}, list: [[1], []] }
  expect(shownOf(payload)).toEqual([
    'payload: 7 fields',
    ...['  title: "A \\"b\\""', '  html: "<b>"', '  n: 1e+21', '  no: null', '  yes: true', '  : 0 fields'],
    ...['  list: 2 items', '    0: 1 item', '      0: 1', '    1: 0 items'],
  ])
})

test.for([
  ['text', 'payload: "text"'],
  [null, 'payload: null'],
  [[], 'payload: 0 items'],
] as const)('%j is one row', ([payload, row]) => {
  expect(shownOf(payload)).toEqual([row])
})

test('names like those that every object has are names', () => {
  const payload = JSON.parse('{"constructor": 1, "__proto__": {"a": 2}}')
  expect(shownOf(payload)).toEqual([
    'payload: 2 fields',
    ...['  constructor: 1', '  __proto__: 1 field', '    a: 2'],
  ])
})

test('long names and values are cut', () => {
  const [, row = ''] = shownOf({ [`k${'x'.repeat(500)}`]: 'y'.repeat(5_000) })
  expect(row.length).toBeLessThan(320)
})

test('a large payload has few rows at first, and more step by step', () => {
  const items = Array.from({ length: 250 }, (_, id) => ({ id }))
  const payload = { items, title: 'Many' }
  expect(shownOf(payload)).toEqual(['payload: 2 fields', '  items: 250 items', '  title: "Many"'])
  const opened = { [idOf(['payload'])]: true, [idOf(['payload', 'items'])]: true }
  const count = (shown: Record<string, number>) => rowsOf(treeOf(payload, { opened, shown })).length
  expect(count({})).toBe(3 + 100 + 1)
  expect(count({ [idOf(['payload', 'items'])]: 200 })).toBe(3 + 200 + 1)
  expect(count({ [idOf(['payload', 'items'])]: 300 })).toBe(3 + 250)
})

test('a payload with many values at the top has a limit, too', () => {
  expect(shownOf(Array.from({ length: 20_000 }, () => 1))).toHaveLength(102)
})
