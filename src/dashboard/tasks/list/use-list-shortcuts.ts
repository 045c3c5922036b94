import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import { isCommandKey, isShortcut, openPalette } from '../../keyboard/shortcuts.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import { openTaskId } from '../open-task.ts'
import { endSelection } from './end-selection.ts'
import type { TaskGroups } from './grouping.ts'
import { commandOf, type ListCommand, type ListState, type PressedKey, positionOf } from './list-command.ts'
import type { Cursor } from './use-cursor.ts'
import type { Selection } from './use-selection.ts'

const loadCopyLink = preloadModule(() => import('../copy-link.ts'))

interface ListShortcuts extends Pick<ListState, 'mayWrite' | 'username'> {
  groups: TaskGroups
  /** What equal tasks are merged with, where they are one row. */
  merge: ((tasks: TaskListItem[]) => void) | undefined
  cursor: Cursor
  selection: Selection
  actions: TaskActions
  onFocus(id: string, options: { index: number }): void
  onOpen(id: string): void
  onClose(): void
  /** Called with the ids of tasks that a key changes, or snoozes. */
  onChange(ids: string[], options?: { isSnooze: boolean }): void
}

/** The shortcuts of the task list; the help dialog lists them. */
export function useListShortcuts(options: ListShortcuts) {
  const queryClient = useQueryClient()
  const shown = useRef(options)
  const lastIndex = useRef(0)
  // Not while rendering: what is rendered may never be shown.
  useLayoutEffect(() => {
    shown.current = options
  })
  useEffect(() => {
    const commandFor = (pressed: PressedKey) => {
      const { groups, mayWrite, username, selection, cursor, merge } = shown.current
      const { rows, tasksOf, rowIdOf } = groups
      // Rendering may be behind of all of these.
      const records = recordsOf(queryClient)
      const highlighted = { openId: openTaskId(), focusedId: cursor.id() }
      const state = {
        rows,
        mayWrite,
        username,
        isGrouped: merge !== undefined,
        selectedTasks: selection.tasks.map((task) => records.row(task.id) ?? task),
        ...highlighted,
      }
      const rowIds = {
        openId: highlighted.openId && rowIdOf(highlighted.openId),
        focusedId: highlighted.focusedId && rowIdOf(highlighted.focusedId),
      }
      const position = positionOf({ ...state, ...rowIds }, lastIndex.current)
      if (position.index !== undefined) lastIndex.current = position.index
      const target = targetOf(queryClient, { ...state, index: position.index })
      const equal = target ? tasksOf(target).flatMap(({ id }) => records.row(id) ?? []) : []
      // Others of them may have been merged since.
      const targetTasks = equal.filter(({ id, mergedInto }) => id === target?.id || mergedInto === null)
      return commandOf(pressed, { ...state, position, target, targetTasks })
    }
    const onKey = (event: KeyboardEvent) => {
      const isCommand = isCommandKey(event)
      if (!isCommand && !isShortcut(event)) return
      const command = commandFor({
        key: event.key,
        isShift: event.shiftKey,
        isCommand,
        isOnControl: isIn(event, 'a, button'),
        // Beside an open task, arrow keys without a focus scroll its text.
        isInList: isIn(event, '[data-list]') || (!openTaskId() && isUnfocused(event)),
      })
      if (!command) return
      event.preventDefault()
      // A key that is held down moves, and does nothing else again and again.
      if (!event.repeat || 'index' in command) run(command, shown.current)
    }
    const onNeighbor = (event: Event) => {
      const key = (event as CustomEvent<1 | -1>).detail > 0 ? 'j' : 'k'
      const command = commandFor({
        key,
        isShift: false,
        isCommand: false,
        isOnControl: true,
        isInList: false,
      })
      if (command) run(command, shown.current)
    }
    // Before what listens on the window, such as the open task: they share keys.
    document.addEventListener('keydown', onKey)
    addEventListener('inlet:neighbor', onNeighbor)
    return () => {
      document.removeEventListener('keydown', onKey)
      removeEventListener('inlet:neighbor', onNeighbor)
    }
  }, [queryClient])
}

const isIn = ({ target }: KeyboardEvent, selector: string) =>
  target instanceof HTMLElement && target.closest(selector) !== null

/** The page takes the focus where text is clicked. */
const isUnfocused = ({ target }: KeyboardEvent) =>
  target === document.body || (target as Element | null)?.id === 'page'

interface Target extends Pick<ListState, 'rows' | 'openId'> {
  index: number | undefined
}

/** The open task, even if its row is not loaded; otherwise the focused one. As it is now: rows are rendered later. */
function targetOf(queryClient: QueryClient, { rows, openId, index }: Target): TaskListItem | undefined {
  const id = openId ?? (index === undefined ? undefined : rows[index]?.id)
  return id === undefined ? undefined : recordsOf(queryClient).row(id)
}

const idsOf = (tasks: TaskListItem[]) => tasks.map(({ id }) => id)

function run(command: ListCommand, list: ListShortcuts) {
  const { selection, actions, onFocus, onOpen, onClose } = list
  const onChoose = () => {
    const isSnooze = command.type === 'openPalette' && command.step === 'snooze'
    if ('tasks' in command) list.onChange(idsOf(command.tasks), { isSnooze })
  }
  const onEdit = (edit: Promise<string[]>) => {
    // All tasks that match are not kept for the next key: rows that are not loaded do not follow changes.
    if (selection.matching) void endSelection(selection, edit)
    onChoose()
  }
  switch (command.type) {
    case 'focus':
      return onFocus(command.id, command)
    case 'extendSelection':
      selection.extend(command.fromId, command.id)
      return onFocus(command.id, command)
    case 'selectAll':
      return selection.selectAll()
    case 'openPalette':
      return openPalette({ ...command, onEdit, onChoose })
    case 'refuse':
      return toast.info(command.reason)
    case 'open':
      return onOpen(command.id)
    case 'close':
      return onClose()
    case 'toggleSelection':
      return selection.toggle(command.id, false)
    case 'clearSelection':
      return selection.clear()
    case 'change':
      return onEdit(actions.change(command.tasks, command.change))
    case 'assign': {
      const { tasks, name, isAdded } = command
      return onEdit(actions.changeNames(tasks, { field: 'assignees', name, isAdded }))
    }
    case 'copyLinks':
      return void loadCopyLink().then(({ copyLinks }) => copyLinks(command.tasks))
    case 'merge':
      return list.merge?.(command.tasks)
    case 'remove': {
      const removal = actions.remove(command.tasks)
      list.onChange(idsOf(command.tasks))
      return void (command.isBulk && endSelection(selection, removal))
    }
  }
}
