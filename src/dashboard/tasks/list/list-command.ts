import type { Schema } from '../../api/client.ts'
import type { TaskListItem } from '../../api/queries.ts'
import type { PaletteStep } from '../../keyboard/shortcuts.ts'
import { NO_PERSON } from '../../session/session.ts'
import { deletionLock, mergeLock, statusLock } from '../managed.ts'

/** What a shortcut of the task list does. */
export type ListCommand =
  | { type: 'focus'; id: string; index: number }
  | { type: 'extendSelection'; fromId: string; id: string; index: number }
  | { type: 'openPalette'; step: PaletteStep; tasks: TaskListItem[] }
  | { type: 'open' | 'toggleSelection'; id: string }
  | { type: 'change'; tasks: TaskListItem[]; change: Schema<'TaskChange'> }
  | { type: 'assign'; tasks: TaskListItem[]; name: string; isAdded: boolean }
  | { type: 'copyLinks' | 'merge'; tasks: TaskListItem[] }
  | { type: 'remove'; tasks: TaskListItem[]; isBulk: boolean }
  | { type: 'refuse'; reason: string }
  | { type: 'selectAll' | 'clearSelection' | 'close' }

export interface ListState {
  rows: TaskListItem[]
  /** The focused task by id, because its index changes. */
  focusedId: string | undefined
  openId: string | undefined
  selectedTasks: TaskListItem[]
  mayWrite: boolean
  /** Of the person who is signed in. */
  username: string | undefined
  /** Whether equal tasks are one row. */
  isGrouped: boolean
}

export interface PressedKey {
  key: string
  /** Whether Shift is pressed with an arrow key. */
  isShift: boolean
  /** Whether Ctrl or Command is pressed. */
  isCommand: boolean
  /** Whether a link or a button has the focus. */
  isOnControl: boolean
  /** Whether the list has the focus, or nothing. */
  isInList: boolean
}

export interface FocusPosition {
  /** The index of the open or focused task; undefined when it is not in the list. */
  index: number | undefined
  before: number
  after: number
}

/** When a task leaves the list, the next one takes its index. */
export function positionOf(
  { rows, focusedId, openId }: Pick<ListState, 'rows' | 'focusedId' | 'openId'>,
  lastIndex: number,
): FocusPosition {
  const indexOf = (id: string | undefined) => (id ? rows.findIndex((row) => row.id === id) : -1)
  const index = [indexOf(openId), indexOf(focusedId)].find((found) => found >= 0)
  return index === undefined
    ? { index, before: lastIndex - 1, after: lastIndex }
    : { index, before: index - 1, after: index + 1 }
}

const STEPS = new Map<string, PaletteStep>([
  ['s', 'status'],
  ['p', 'priority'],
  ['l', 'labels'],
  ['a', 'assignees'],
  ['v', 'list'],
  ['d', 'merge'],
  ['h', 'snooze'],
])

const LOCKS = new Map([
  ['e', statusLock],
  ['s', statusLock],
  ['n', statusLock],
  ['d', mergeLock],
  ['m', mergeLock],
  ['#', deletionLock],
])

interface Targets {
  position: FocusPosition
  /** The open or focused task. */
  target: TaskListItem | undefined
  /** Those that its row stands for. */
  targetTasks: TaskListItem[]
}

/** The command of a key; undefined when the key does nothing here. */
export function commandOf(
  { key, isShift, isCommand, isOnControl, isInList }: PressedKey,
  state: ListState & Targets,
): ListCommand | undefined {
  const { rows, selectedTasks, openId, mayWrite, username, position, target, targetTasks } = state
  const isBulk = selectedTasks.length > 0
  const tasks = isBulk ? selectedTasks : targetTasks
  if (isCommand) {
    if (key === 'k') return { type: 'openPalette', step: 'root', tasks: mayWrite ? tasks : [] }
    return key === 'a' && isInList && mayWrite && rows.length > 0 ? { type: 'selectAll' } : undefined
  }
  const isDown = key === 'j' || key === 'J' || (key === 'ArrowDown' && isInList)
  if (isDown || key === 'k' || key === 'K' || (key === 'ArrowUp' && isInList)) {
    const index = Math.min(rows.length - 1, Math.max(0, isDown ? position.after : position.before))
    const row = rows[index]
    if (!row) return undefined
    const isExtending = mayWrite && (key === 'J' || key === 'K' || (isShift && key.startsWith('Arrow')))
    const fromId = rows[position.index ?? index]?.id ?? row.id
    return isExtending
      ? { type: 'extendSelection', fromId, id: row.id, index }
      : { type: 'focus', id: row.id, index }
  }
  if (key === 'Enter' && !isOnControl && target) return { type: 'open', id: target.id }
  if (key === 'Escape') {
    if (isBulk) return { type: 'clearSelection' }
    return openId ? { type: 'close' } : undefined
  }
  if (key === 'f') return { type: 'openPalette', step: 'filter', tasks: [] }
  if (key === '.' && tasks.length > 0) return { type: 'copyLinks', tasks }
  if (!mayWrite) return undefined
  if (key === 'x' && target && rows.some(({ id }) => id === target.id))
    return { type: 'toggleSelection', id: target.id }
  if (tasks.length === 0) return undefined
  const reason = LOCKS.get(key)?.(tasks)
  if (reason) return { type: 'refuse', reason }
  if (key === '#') return { type: 'remove', tasks, isBulk }
  if (key === 'i') {
    if (!username) return { type: 'refuse', reason: NO_PERSON }
    const isMine = tasks.every(({ assignees }) => assignees.includes(username))
    return { type: 'assign', tasks, name: username, isAdded: state.isGrouped || !isMine }
  }
  const step = STEPS.get(key)
  if (step) return { type: 'openPalette', step, tasks }
  if (key === 'm' && state.isGrouped) {
    // Those that somebody has selected need not be equal.
    if (isBulk) return { type: 'openPalette', step: 'merge', tasks }
    if (tasks.length > 1) return { type: 'merge', tasks }
    return openId ? undefined : { type: 'refuse', reason: NOTHING_EQUAL }
  }
  const change = changeOf(key, tasks)
  return change && { type: 'change', tasks, change }
}

const NOTHING_EQUAL = 'There is no equal task to merge with. Press d to choose one.'

function changeOf(key: string, tasks: TaskListItem[]): Schema<'TaskChange'> | undefined {
  if (key === 'e') return { status: tasks.every(({ status }) => status === 'done') ? 'open' : 'done' }
  if (key === 'n') return { status: 'done', closedReason: 'not_planned' }
  return key === 'y' && tasks.some(({ triaged }) => !triaged) ? { triaged: true } : undefined
}
