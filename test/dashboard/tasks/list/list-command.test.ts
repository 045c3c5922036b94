import { describe, expect, test } from 'vitest'
import type { TaskListItem } from '../../../../src/dashboard/api/queries.ts'
import {
  commandOf,
  type ListState,
  type PressedKey,
  positionOf,
} from '../../../../src/dashboard/tasks/list/list-command.ts'

const row = (id: string, values: Partial<TaskListItem> = {}) =>
  ({ id, status: 'open', mergedInto: null, reports: 1, assignees: [], ...values }) as unknown as TaskListItem
const [A, B, C] = [row('a'), row('b'), row('c', { status: 'done' })]
const MERGED = row('m', { status: 'done', mergedInto: 'a' })

interface Options extends Partial<ListState>, Partial<PressedKey> {
  lastIndex?: number
  /** Tasks that the row of the target stands for as well. */
  equal?: TaskListItem[]
}

/** The command of a key in a list of three, with B focused. */
function press(
  key: string,
  {
    lastIndex = 0,
    isShift = false,
    isCommand = false,
    isOnControl = false,
    isInList = false,
    equal = [],
    ...changes
  }: Options = {},
) {
  const state = {
    rows: [A, B, C],
    focusedId: 'b' as string | undefined,
    openId: undefined,
    selectedTasks: [] as TaskListItem[],
    mayWrite: true,
    username: undefined,
    isGrouped: false,
    ...changes,
  }
  const position = positionOf(state, lastIndex)
  const target = position.index === undefined ? undefined : state.rows[position.index]
  const targetTasks = target ? [target, ...equal] : []
  return commandOf(
    { key, isShift, isCommand, isOnControl, isInList },
    { ...state, position, target, targetTasks },
  )
}

describe('the key to merge', () => {
  test('asks for a task to merge the focused or the selected ones into', () => {
    expect(press('d')).toEqual({ type: 'openPalette', step: 'merge', tasks: [B] })
    expect(press('d', { selectedTasks: [A, C] })).toMatchObject({ step: 'merge', tasks: [A, C] })
  })

  test('asks so for the open task, too', () => {
    expect(press('d', { openId: 'c' })).toEqual({ type: 'openPalette', step: 'merge', tasks: [C] })
  })
})

describe('the keys of triage', () => {
  const [first, other] = [row('b', { triaged: false }), row('x', { triaged: false })]
  const rows = [A, first, C]

  test('accept, close as not planned, and snooze all that the row stands for', () => {
    const tasks = [first, other]
    expect(press('y', { rows, equal: [other] })).toEqual({ type: 'change', tasks, change: { triaged: true } })
    expect(press('n', { rows, equal: [other] })).toEqual({
      type: 'change',
      tasks,
      change: { status: 'done', closedReason: 'not_planned' },
    })
    expect(press('h', { rows, equal: [other] })).toEqual({ type: 'openPalette', step: 'snooze', tasks })
  })

  test('accept nothing that is triaged', () => {
    expect(press('y', { rows: [A, row('b', { triaged: true }), C] })).toBeUndefined()
  })

  test('merge equal tasks where they are one row', () => {
    const options = { rows, equal: [other], isGrouped: true }
    expect(press('m', options)).toEqual({ type: 'merge', tasks: [first, other] })
    expect(press('m', { ...options, equal: [] })).toMatchObject({ type: 'refuse' })
    // Those that somebody has selected need not be equal.
    expect(press('m', { ...options, selectedTasks: [A, other] })).toMatchObject({ step: 'merge' })
    // It is the key to comment there.
    expect(press('m', { ...options, equal: [], openId: 'b' })).toBeUndefined()
    expect(press('m', { ...options, isGrouped: false })).toBeUndefined()
  })

  test('do nothing without the right to write', () => {
    for (const key of ['y', 'n', 'h', 'm'])
      expect(press(key, { rows, equal: [other], isGrouped: true, mayWrite: false })).toBeUndefined()
  })
})

describe('a merged task', () => {
  const rows = [A, MERGED]

  test.each(['e', 's', 'n', 'd'])('refuses the key %s, and says why', (key) => {
    expect(press(key, { rows, focusedId: 'm' })).toEqual({
      type: 'refuse',
      reason: expect.stringContaining('This task is merged. Unmerge it'),
    })
    expect(press(key, { rows, focusedId: 'm', mayWrite: false })).toBeUndefined()
  })

  test('keeps its target from being deleted', () => {
    const target = row('t', { reports: 2 })
    expect(press('#', { rows: [target], focusedId: 't' })).toEqual({
      type: 'refuse',
      reason: 'Other tasks are merged into this one. Unmerge them to delete it.',
    })
    expect(press('#', { rows: [target], selectedTasks: [target, A] })).toMatchObject({ type: 'remove' })
  })

  test('is changed with others as far as it can be', () => {
    const tasks = [A, MERGED]
    expect(press('e', { rows, selectedTasks: tasks })).toEqual({
      type: 'change',
      tasks,
      change: { status: 'done' },
    })
    expect(press('p', { rows, focusedId: 'm' })).toMatchObject({ step: 'priority', tasks: [MERGED] })
  })
})

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

  test('follows the arrow keys only in the list, because they scroll the page elsewhere', () => {
    expect(press('ArrowDown', { isInList: true })).toEqual({ type: 'focus', id: 'c', index: 2 })
    expect(press('ArrowUp', { isInList: true })).toEqual({ type: 'focus', id: 'a', index: 0 })
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
    const selectedTasks = [A, C]
    expect(press('#', { selectedTasks })).toEqual({ type: 'remove', tasks: [A, C], isBulk: true })
    expect(press('e', { selectedTasks })).toEqual({
      type: 'change',
      tasks: [A, C],
      change: { status: 'done' },
    })
  })

  test('reopens the selected tasks only when all are done', () => {
    const command = press('e', { selectedTasks: [C] })
    expect(command).toEqual({ type: 'change', tasks: [C], change: { status: 'open' } })
  })

  test.each(['e', 'x', '#'])('changes nothing without the scope to write: %s', (key) => {
    expect(press(key, { mayWrite: false })).toBeUndefined()
  })

  test.each(['e', 'x', '#', 'Enter'])('does nothing without a task: %s', (key) => {
    expect(press(key, { focusedId: undefined })).toBeUndefined()
  })

  test.each([
    ['s', 'status'],
    ['p', 'priority'],
    ['l', 'labels'],
    ['a', 'assignees'],
    ['v', 'list'],
  ])('asks for the value of a property: %s', (key, step) => {
    expect(press(key)).toEqual({ type: 'openPalette', step, tasks: [B] })
    const selectedTasks = [A, C]
    expect(press(key, { selectedTasks })).toEqual({ type: 'openPalette', step, tasks: [A, C] })
    expect(press(key, { mayWrite: false })).toBeUndefined()
    expect(press(key, { focusedId: undefined })).toBeUndefined()
    expect(press(key, { isCommand: true, focusedId: undefined, isInList: false })).toBeUndefined()
  })

  test('opens the command palette, without tasks when they may not be changed', () => {
    expect(press('k', { isCommand: true })).toEqual({ type: 'openPalette', step: 'root', tasks: [B] })
    expect(press('k', { isCommand: true, mayWrite: false })).toEqual({
      type: 'openPalette',
      step: 'root',
      tasks: [],
    })
  })

  test('assigns to me, or takes me off when all are mine', () => {
    const mine = row('b', { assignees: ['ada', 'bob'] })
    const rows = [A, mine, C]
    const assign = { type: 'assign', name: 'ada' }
    expect(press('i', { username: 'ada' })).toEqual({ ...assign, tasks: [B], isAdded: true })
    expect(press('i', { username: 'ada', rows })).toEqual({ ...assign, tasks: [mine], isAdded: false })
    expect(press('i', { username: 'ada', selectedTasks: [A, mine] })).toMatchObject({ isAdded: true })
    expect(press('i')).toEqual({ type: 'refuse', reason: expect.stringContaining('Only people') })
    expect(press('i', { username: 'ada', mayWrite: false })).toBeUndefined()
  })

  test('copies links and filters, also without the scope to write', () => {
    expect(press('.', { mayWrite: false })).toEqual({ type: 'copyLinks', tasks: [B] })
    expect(press('.', { selectedTasks: [A, C] })).toEqual({ type: 'copyLinks', tasks: [A, C] })
    expect(press('.', { focusedId: undefined })).toBeUndefined()
    expect(press('f', { focusedId: undefined, mayWrite: false })).toMatchObject({ step: 'filter' })
  })

  test('selects all rows while the list has the focus, and leaves the key to the browser elsewhere', () => {
    expect(press('a', { isCommand: true, isInList: true })).toEqual({ type: 'selectAll' })
    expect(press('a', { isCommand: true })).toBeUndefined()
    expect(press('a', { isCommand: true, isInList: true, mayWrite: false })).toBeUndefined()
  })

  test.each([
    ['J', {}, 'c', 2],
    ['K', {}, 'a', 0],
    ['ArrowDown', { isShift: true, isInList: true }, 'c', 2],
    ['ArrowUp', { isShift: true, isInList: true }, 'a', 0],
  ])('extends the selection with Shift: %s', (key, options, id, index) => {
    expect(press(key, options)).toEqual({ type: 'extendSelection', fromId: 'b', id, index })
    expect(press(key, { ...options, mayWrite: false })).toEqual({ type: 'focus', id, index })
  })

  test('starts a selection at the first row when no task has the focus', () => {
    const command = press('J', { focusedId: undefined })
    expect(command).toEqual({ type: 'extendSelection', fromId: 'a', id: 'a', index: 0 })
  })

  test('clears the selection before it closes the open task', () => {
    expect(press('Escape', { openId: 'b', selectedTasks: [A] })).toEqual({ type: 'clearSelection' })
    expect(press('Escape', { openId: 'b' })).toEqual({ type: 'close' })
    expect(press('Escape')).toBeUndefined()
  })

  test.each(['b', 'Tab', ' ', 'E', 'P'])('is no other key: %s', (key) => {
    expect(press(key)).toBeUndefined()
  })
})
