import { describe, expect, test } from 'vitest'
import type { TaskListItem } from '../../../../src/dashboard/api/queries.ts'
import { commandOf, type ListState, positionOf } from '../../../../src/dashboard/tasks/list/list-command.ts'

const row = (id: string, status: TaskListItem['status'] = 'open') => ({ id, status }) as TaskListItem
const [A, B, C] = [row('a'), row('b'), row('c', 'done')]

interface Options extends Partial<ListState> {
  lastIndex?: number
  isOnControl?: boolean
  isInRow?: boolean
}

/** The command of a key in a list of three, with B focused. */
function press(
  key: string,
  { lastIndex = 0, isOnControl = false, isInRow = false, ...changes }: Options = {},
) {
  const state = {
    rows: [A, B, C],
    focusedId: 'b' as string | undefined,
    openId: undefined,
    selectedIds: new Set<string>(),
    mayWrite: true,
    ...changes,
  }
  const position = positionOf(state, lastIndex)
  const target = position.index === undefined ? undefined : state.rows[position.index]
  return commandOf({ key, isOnControl, isInRow }, { ...state, position, target })
}

describe('the focus in a task list', () => {
  test.each([
    ['j', 'c', 2],
    ['k', 'a', 0],
  ])('moves by one row: %s', (key, id, index) => {
    expect(press(key)).toEqual({ type: 'focus', id, index })
  })

  test('stays in the list', () => {
    expect(press('j', { focusedId: 'c' })).toEqual({ type: 'focus', id: 'c', index: 2 })
    expect(press('k', { focusedId: 'a' })).toEqual({ type: 'focus', id: 'a', index: 0 })
  })

  test('starts at the first row', () => {
    expect(press('j', { focusedId: undefined })).toEqual({ type: 'focus', id: 'a', index: 0 })
  })

  test('continues where a task has left the list', () => {
    const options = { rows: [A, C], focusedId: 'b', lastIndex: 1 }
    expect(press('j', options)).toEqual({ type: 'focus', id: 'c', index: 1 })
    expect(press('k', options)).toEqual({ type: 'focus', id: 'a', index: 0 })
  })

  test('continues from the open task', () => {
    expect(press('j', { openId: 'a' })).toEqual({ type: 'focus', id: 'b', index: 1 })
  })

  test('follows the arrow keys only in a row, because they scroll the page elsewhere', () => {
    expect(press('ArrowDown', { isInRow: true })).toEqual({ type: 'focus', id: 'c', index: 2 })
    expect(press('ArrowUp', { isInRow: true })).toEqual({ type: 'focus', id: 'a', index: 0 })
    expect(press('ArrowDown')).toBeUndefined()
    expect(press('ArrowUp')).toBeUndefined()
  })

  test('does not move in an empty list', () => {
    expect(press('j', { rows: [] })).toBeUndefined()
  })
})

describe('a shortcut of a task list', () => {
  test('opens the focused task, unless Enter presses a link or a button', () => {
    expect(press('Enter')).toEqual({ type: 'open', id: 'b' })
    expect(press('Enter', { isOnControl: true })).toBeUndefined()
  })

  test('changes the focused task', () => {
    expect(press('e')).toEqual({ type: 'change', tasks: [B], change: { status: 'done' } })
    expect(press('e', { focusedId: 'c' })).toEqual({ type: 'change', tasks: [C], change: { status: 'open' } })
    expect(press('x')).toEqual({ type: 'toggleSelection', id: 'b' })
    expect(press('#')).toEqual({ type: 'remove', tasks: [B], isBulk: false })
  })

  test('changes the selected tasks instead, in the order of the list', () => {
    const selectedIds = new Set(['c', 'a'])
    expect(press('#', { selectedIds })).toEqual({ type: 'remove', tasks: [A, C], isBulk: true })
    expect(press('e', { selectedIds })).toEqual({ type: 'change', tasks: [A, C], change: { status: 'done' } })
  })

  test('reopens the selected tasks only when all are done', () => {
    const command = press('e', { selectedIds: new Set(['c']) })
    expect(command).toEqual({ type: 'change', tasks: [C], change: { status: 'open' } })
  })

  test.each(['e', 'x', '#'])('changes nothing without the scope to write: %s', (key) => {
    expect(press(key, { mayWrite: false })).toBeUndefined()
  })

  test.each(['e', 'x', '#', 'Enter'])('does nothing without a task: %s', (key) => {
    expect(press(key, { focusedId: undefined })).toBeUndefined()
  })

  test('clears the selection before it closes the open task', () => {
    expect(press('Escape', { openId: 'b', selectedIds: new Set(['a']) })).toEqual({ type: 'clearSelection' })
    expect(press('Escape', { openId: 'b' })).toEqual({ type: 'close' })
    expect(press('Escape')).toBeUndefined()
  })

  test.each(['a', 'Tab', ' '])('is no other key: %s', (key) => {
    expect(press(key)).toBeUndefined()
  })
})
