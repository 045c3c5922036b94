import type { TaskListItem } from '../../api/queries.ts'

/** What a shortcut of the task list does. */
export type ListCommand =
  | { type: 'focus'; id: string; index: number }
  | { type: 'open' | 'toggleSelection'; id: string }
  | { type: 'change'; tasks: TaskListItem[]; change: { status: TaskListItem['status'] } }
  | { type: 'remove'; tasks: TaskListItem[]; isBulk: boolean }
  | { type: 'clearSelection' | 'close' }

export interface ListState {
  rows: TaskListItem[]
  /** The focused task by id, because its index changes. */
  focusedId: string | undefined
  openId: string | undefined
  selectedIds: ReadonlySet<string>
  mayWrite: boolean
}

export interface PressedKey {
  key: string
  /** Whether a link or a button has the focus. */
  isOnControl: boolean
  /** Whether something in a row has the focus. */
  isInRow: boolean
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

/** The command of a key; undefined when the key does nothing here. `target` is the open or focused task. */
export function commandOf(
  { key, isOnControl, isInRow }: PressedKey,
  state: ListState & { position: FocusPosition; target: TaskListItem | undefined },
): ListCommand | undefined {
  const { rows, selectedIds, openId, mayWrite, position, target } = state
  const isDown = key === 'j' || (key === 'ArrowDown' && isInRow)
  if (isDown || key === 'k' || (key === 'ArrowUp' && isInRow)) {
    const index = Math.min(rows.length - 1, Math.max(0, isDown ? position.after : position.before))
    const row = rows[index]
    return row && { type: 'focus', id: row.id, index }
  }
  if (key === 'Enter' && !isOnControl && target) return { type: 'open', id: target.id }
  if (key === 'Escape') {
    if (selectedIds.size > 0) return { type: 'clearSelection' }
    return openId ? { type: 'close' } : undefined
  }
  if (!mayWrite) return undefined
  if (key === 'x' && target && rows.includes(target)) return { type: 'toggleSelection', id: target.id }
  const isBulk = selectedIds.size > 0
  const tasks = isBulk ? rows.filter(({ id }) => selectedIds.has(id)) : target ? [target] : []
  if (tasks.length === 0) return undefined
  if (key === '#') return { type: 'remove', tasks, isBulk }
  if (key !== 'e') return undefined
  const isAllDone = tasks.every(({ status }) => status === 'done')
  return { type: 'change', tasks, change: { status: isAllDone ? 'open' : 'done' } }
}
