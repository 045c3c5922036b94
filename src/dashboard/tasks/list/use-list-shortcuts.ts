import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type TaskListItem, taskQuery } from '../../api/queries.ts'
import { isCommand } from '../../keyboard/shortcuts.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import type { Selection } from './use-selection.ts'

interface ListKeys {
  rows: TaskListItem[]
  /** The task the keyboard is on; the rows around it come and go. */
  focusedId: string | undefined
  selection: Selection
  actions: TaskActions
  openId: string | undefined
  mayWrite: boolean
  onFocus(id: string, index: number): void
  onOpen(id: string): void
  onClose(): void
}

/** `j`, `k` (the arrow keys, too, within the list), Enter, `e`, `x`, `#` and Escape over the rows of a list. */
export function useListKeys(given: ListKeys) {
  const cache = useQueryClient()
  const latest = useRef(given)
  latest.current = given
  const lastPlace = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isCommand(event)) return
      const place = placeOf(latest.current, lastPlace.current)
      if (place.at !== undefined) lastPlace.current = place.at
      const row = rowMeant(cache, latest.current, place.at)
      if (act(event.key, event.target, latest.current, { ...place, row })) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [cache])
}

interface Place {
  /** Where the open or focused task stands; undefined when it is not among the rows. */
  at: number | undefined
  before: number
  after: number
}

/** A task that went leaves its place to the next one. */
function placeOf({ rows, focusedId, openId }: ListKeys, lastPlace: number): Place {
  const indexOf = (id: string | undefined) => (id ? rows.findIndex((row) => row.id === id) : -1)
  const at = [indexOf(openId), indexOf(focusedId)].find((index) => index >= 0)
  return at === undefined
    ? { at, before: lastPlace - 1, after: lastPlace }
    : { at, before: at - 1, after: at + 1 }
}

/** What is open is meant, though its row may lie beyond what is loaded; else what the keyboard is on. */
function rowMeant(cache: QueryClient, { rows, openId }: ListKeys, at: number | undefined) {
  const row = at === undefined ? undefined : rows[at]
  if (!openId || row?.id === openId) return row
  return cache.getQueryData(taskQuery(openId).queryKey) as TaskListItem | undefined
}

function act(
  key: string,
  target: EventTarget | null,
  given: ListKeys,
  { before, after, row }: Place & { row: TaskListItem | undefined },
): boolean {
  const { rows, selection, actions, openId, mayWrite } = given
  const isOnControl = target instanceof HTMLElement && target.closest('a, button') !== null
  const chosen = selection.ids.size > 0 ? rows.filter(({ id }) => selection.ids.has(id)) : row ? [row] : []

  const isInRow = target instanceof HTMLElement && target.closest('[data-task]') !== null
  const isDown = key === 'j' || (key === 'ArrowDown' && isInRow)
  const isUp = key === 'k' || (key === 'ArrowUp' && isInRow)

  if (isDown || isUp) {
    const next = Math.min(rows.length - 1, Math.max(0, isDown ? after : before))
    if (rows[next]) given.onFocus(rows[next].id, next)
  } else if (key === 'Enter' && !isOnControl && row) given.onOpen(row.id)
  else if (key === 'x' && row && rows.includes(row) && mayWrite) selection.toggle(row.id, false)
  else if (key === 'e' && mayWrite && chosen.length > 0) {
    const isAllDone = chosen.every(({ status }) => status === 'done')
    void actions.change(chosen, { status: isAllDone ? 'open' : 'done' })
  } else if (key === '#' && mayWrite && chosen.length > 0) {
    const isBulk = selection.ids.size > 0
    selection.clear()
    void actions.remove(chosen).then((failed) => isBulk && selection.add(failed))
  } else if (key === 'Escape') {
    if (selection.ids.size > 0) selection.clear()
    else if (openId) given.onClose()
    else return false
  } else return false
  return true
}
