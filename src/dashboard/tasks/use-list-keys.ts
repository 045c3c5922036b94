import { useEffect, useRef } from 'react'
import type { TaskListItem } from '../api/queries.ts'
import { isCommand } from '../frame/shortcuts.ts'
import type { Selection } from './use-selection.ts'
import type { TaskActions } from './use-task-actions.ts'

interface ListKeys {
  rows: TaskListItem[]
  focused: number
  selection: Selection
  actions: TaskActions
  openId: string | undefined
  mayWrite: boolean
  onFocus(index: number): void
  onOpen(id: string): void
  onClose(): void
}

/** `j`, `k`, Enter, `e`, `x`, `#` and Escape over the rows of a list. */
export function useListKeys(given: ListKeys) {
  const latest = useRef(given)
  latest.current = given
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isCommand(event) && act(event.key, event.target, latest.current)) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function act(key: string, target: EventTarget | null, given: ListKeys): boolean {
  const { rows, selection, actions, openId, mayWrite } = given
  const isOnControl = target instanceof HTMLElement && target.closest('a, button') !== null
  const at = openId ? rows.findIndex(({ id }) => id === openId) : given.focused
  const row = rows[at]
  const chosen = selection.ids.size > 0 ? rows.filter(({ id }) => selection.ids.has(id)) : row ? [row] : []

  if (key === 'j' || key === 'k') {
    const next = Math.min(rows.length - 1, Math.max(0, at + (key === 'j' ? 1 : -1)))
    if (rows[next]) given.onFocus(next)
  } else if (key === 'Enter' && !isOnControl && row) given.onOpen(row.id)
  else if (key === 'x' && row && mayWrite) selection.toggle(row.id, false)
  else if (key === 'e' && mayWrite && chosen.length > 0) {
    const isAllDone = chosen.every(({ status }) => status === 'done')
    void actions.change(chosen, { status: isAllDone ? 'open' : 'done' })
  } else if (key === '#' && mayWrite && chosen.length > 0) {
    void actions.remove(chosen)
    selection.clear()
  } else if (key === 'Escape') {
    if (selection.ids.size > 0) selection.clear()
    else if (openId) given.onClose()
    else return false
  } else return false
  return true
}
