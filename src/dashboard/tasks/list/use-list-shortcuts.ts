import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type TaskListItem, taskQuery } from '../../api/queries.ts'
import { isShortcut } from '../../keyboard/shortcuts.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import type { Selection } from './use-selection.ts'

interface ListShortcuts {
  rows: TaskListItem[]
  /** The focused task by id, because its index changes. */
  focusedId: string | undefined
  selection: Selection
  actions: TaskActions
  openId: string | undefined
  mayWrite: boolean
  onFocus(id: string, index: number): void
  onOpen(id: string): void
  onClose(): void
}

/** The shortcuts of the task list: `j`, `k` or arrow keys, Enter, `e`, `x`, `#`, Escape. */
export function useListShortcuts(options: ListShortcuts) {
  const queryClient = useQueryClient()
  const latest = useRef(options)
  latest.current = options
  const lastIndex = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return
      const position = positionOf(latest.current, lastIndex.current)
      if (position.index !== undefined) lastIndex.current = position.index
      const row = targetRow(queryClient, latest.current, position.index)
      if (handleKey(event.key, event.target, latest.current, { ...position, row })) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [queryClient])
}

interface FocusPosition {
  /** The index of the open or focused task; undefined when it is not in the list. */
  index: number | undefined
  before: number
  after: number
}

/** When a task leaves the list, the next one takes its index. */
function positionOf({ rows, focusedId, openId }: ListShortcuts, lastIndex: number): FocusPosition {
  const indexOf = (id: string | undefined) => (id ? rows.findIndex((row) => row.id === id) : -1)
  const index = [indexOf(openId), indexOf(focusedId)].find((found) => found >= 0)
  return index === undefined
    ? { index, before: lastIndex - 1, after: lastIndex }
    : { index, before: index - 1, after: index + 1 }
}

/** The open task, even if its row is not loaded; otherwise the focused one. */
function targetRow(queryClient: QueryClient, { rows, openId }: ListShortcuts, index: number | undefined) {
  const row = index === undefined ? undefined : rows[index]
  if (!openId || row?.id === openId) return row
  return queryClient.getQueryData(taskQuery(openId).queryKey) as TaskListItem | undefined
}

function handleKey(
  key: string,
  target: EventTarget | null,
  options: ListShortcuts,
  { before, after, row }: FocusPosition & { row: TaskListItem | undefined },
): boolean {
  const { rows, selection, actions, openId, mayWrite } = options
  const isOnControl = target instanceof HTMLElement && target.closest('a, button') !== null
  const targets = selection.ids.size > 0 ? rows.filter(({ id }) => selection.ids.has(id)) : row ? [row] : []

  const isInRow = target instanceof HTMLElement && target.closest('[data-task]') !== null
  const isDown = key === 'j' || (key === 'ArrowDown' && isInRow)
  const isUp = key === 'k' || (key === 'ArrowUp' && isInRow)

  if (isDown || isUp) {
    const next = Math.min(rows.length - 1, Math.max(0, isDown ? after : before))
    if (rows[next]) options.onFocus(rows[next].id, next)
  } else if (key === 'Enter' && !isOnControl && row) options.onOpen(row.id)
  else if (key === 'x' && row && rows.includes(row) && mayWrite) selection.toggle(row.id, false)
  else if (key === 'e' && mayWrite && targets.length > 0) {
    const isAllDone = targets.every(({ status }) => status === 'done')
    void actions.change(targets, { status: isAllDone ? 'open' : 'done' })
  } else if (key === '#' && mayWrite && targets.length > 0) {
    const isBulk = selection.ids.size > 0
    selection.clear()
    void actions.remove(targets).then((failed) => isBulk && selection.add(failed))
  } else if (key === 'Escape') {
    if (selection.ids.size > 0) selection.clear()
    else if (openId) options.onClose()
    else return false
  } else return false
  return true
}
