import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAllLists } from '../api/use-all-lists.ts'
import { undoLatest } from '../components/undo.tsx'
import { openHelp, openNewTask, type PaletteStep } from '../keyboard/shortcuts.ts'
import { formatSearch } from '../navigation/search-params.ts'
import { useMe } from '../session/session.ts'
import { settingsPages } from '../settings/settings-pages.ts'
import { formatFilters, isNotDone, NOT_DONE, validFilters } from '../tasks/filters.ts'
import { deletionLock, mergeLock, statusLock } from '../tasks/managed.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { taskOption, useFoundTasks } from './found-tasks.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import { type StepProps, tasksText } from './property-steps.tsx'

/** What can be done with the tasks, pages to go to, and tasks found by words or number. */
export function CommandStep({ tasks, actions, onStep, onClose }: StepProps) {
  const [text, setText] = useState('')
  const [, navigate] = useLocation()
  const { can } = useMe()
  const changes = taskCommands({ tasks, actions, onStep })
  const pages = usePages(text.trim() !== '')
  const found = useFoundTasks(text.trim())
  const foundTasks = found.tasks.map((task) => ({
    ...taskOption(task, { group: 'Tasks', run: () => navigate(`/tasks/${task.id}`) }),
    isFound: true,
  }))
  const showDone = useShowDone()
  const commands: Option[] = [
    ...(can('tasks:write')
      ? [
          command({ label: 'New task', shortcut: 'c', run: openNewTask }),
          command({ label: 'Undo the last action', shortcut: 'z', run: () => void undoLatest() }),
        ]
      : []),
    ...showDone,
    command({ label: 'Keyboard shortcuts', shortcut: '?', run: openHelp }),
  ]
  return (
    <OptionList
      label="Command palette"
      placeholder="Go to, do, or find a task by words or #number"
      options={[...changes, ...commands, ...pages, ...foundTasks]}
      text={text}
      onType={setText}
      isSettled={found.isSettled}
      onClose={onClose}
    />
  )
}

/** Shows done tasks in the list, or hides them. */
function useShowDone(): Option[] {
  const [pathname, navigate] = useLocation()
  const filters = useFilters()
  if (!pathname.startsWith('/tasks')) return []
  const isHidden = isNotDone(filters.status)
  const status = isHidden ? undefined : NOT_DONE
  const run = () => navigate(pathname + formatFilters(validFilters({ ...filters, status })))
  return [command({ label: isHidden ? 'Show done tasks' : 'Hide done tasks', run })]
}

type Command = Pick<Option, 'label' | 'shortcut' | 'run'>

const command = (option: Command): Option => ({ id: `do-${option.label}`, group: 'Commands', ...option })

function taskCommands({ tasks, actions, onStep }: Pick<StepProps, 'tasks' | 'actions' | 'onStep'>): Option[] {
  if (tasks.length === 0) return []
  const group = tasksText(tasks)
  const isDone = tasks.every(({ status }) => status === 'done')
  const step = (label: string, step: PaletteStep): Command => ({ label, run: () => onStep(step) })
  const isStatusLocked = statusLock(tasks) !== undefined
  const steps = [
    ...(isStatusLocked ? [] : [{ ...step('Set status…', 'status'), shortcut: 's' }]),
    { ...step('Set priority…', 'priority'), shortcut: 'p' },
    { ...step('Add or remove label…', 'labels'), shortcut: 'l' },
    { ...step('Add or remove assignee…', 'assignees'), shortcut: 'a' },
    { ...step('Move to list…', 'list'), shortcut: 'v' },
    ...(mergeLock(tasks) ? [] : [{ ...step('Merge into…', 'merge'), shortcut: 'd' }]),
  ]
  const doneOrOpen: Command = {
    label: isDone ? 'Reopen' : 'Mark done',
    shortcut: 'e',
    run: () => void actions.change(tasks, { status: isDone ? 'open' : 'done' }),
  }
  const deletion: Command = { label: 'Delete', shortcut: '#', run: () => void actions.remove(tasks) }
  return [
    ...(isStatusLocked ? [] : [{ ...command(doneOrOpen), group }]),
    ...steps.map((option) => ({ ...command(option), group, isStep: true })),
    ...(deletionLock(tasks) ? [] : [{ ...command(deletion), group }]),
  ]
}

/** Lists are offered once something is typed: there can be many. */
function usePages(showsLists: boolean): Option[] {
  const [, navigate] = useLocation()
  const { me, can, isServiceWide } = useMe()
  const allLists = useAllLists()
  const page = (label: string, path: string): Option => ({
    id: `go-${path}`,
    label,
    group: 'Go to',
    run: () => navigate(path),
  })
  return [
    page('All tasks', '/tasks'),
    ...allLists.flatMap(({ project: { id: projectId, name }, lists }) => [
      page(name, `/tasks${formatSearch({ projectId })}`),
      ...(showsLists
        ? [
            ...lists.map((list) =>
              page(`${name} / ${list.name}`, `/tasks${formatSearch({ projectId, listId: list.id })}`),
            ),
            page(`${name} project settings`, `/projects/${projectId}`),
          ]
        : []),
    ]),
    ...(can('tasks:read') ? [page('Trash', '/trash')] : []),
    ...settingsPages({ isPerson: Boolean(me?.user), isAdmin: can('admin'), isServiceWide }).map(
      ({ path, label }) => ({
        ...page(label, path),
        keywords: 'settings',
      }),
    ),
    { ...page('API reference', '/docs'), run: () => location.assign('/docs') },
  ]
}
