import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { DEFAULT_SORT, fetchTaskPage } from '../api/queries.ts'
import { undoLatest } from '../components/undo.tsx'
import { openHelp, openNewTask, type PaletteStep } from '../keyboard/shortcuts.ts'
import { formatSearch } from '../navigation/search-params.ts'
import { useMe } from '../session/session.ts'
import { settingsPages } from '../settings/settings-pages.ts'
import { formatFilters, isNotDone, NOT_DONE, validFilters } from '../tasks/filters.ts'
import { useAllLists } from '../tasks/list-menu.tsx'
import { TYPING_MS } from '../tasks/names.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import { type StepProps, tasksText, textOf } from './property-steps.tsx'

const MAX_FOUND = 8
/** Shorter texts match nearly everything. */
const MIN_TEXT = 2

/** What can be done with the tasks, pages to go to, and tasks found by words or number. */
export function CommandStep({ tasks, actions, typed, onStep, onClose }: StepProps) {
  const [text, setText] = useState(textOf(typed))
  const { can } = useMe()
  const changes = taskCommands({ tasks, actions, onStep })
  const pages = usePages(text.trim() !== '')
  const found = useFoundTasks(text.trim())
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
      options={[...changes, ...commands, ...pages, ...found.options]}
      text={text}
      onType={setText}
      isSettled={found.isSettled}
      isEntered={typed.includes('\n')}
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
  const steps = [
    { ...step('Set status…', 'status'), shortcut: 's' },
    { ...step('Set priority…', 'priority'), shortcut: 'p' },
    { ...step('Add or remove label…', 'labels'), shortcut: 'l' },
    { ...step('Add or remove assignee…', 'assignees'), shortcut: 'a' },
    { ...step('Move to list…', 'list'), shortcut: 'v' },
  ]
  const doneOrOpen: Command = {
    label: isDone ? 'Reopen' : 'Mark done',
    shortcut: 'e',
    run: () => void actions.change(tasks, { status: isDone ? 'open' : 'done' }),
  }
  const deletion: Command = { label: 'Delete', shortcut: '#', run: () => void actions.remove(tasks) }
  return [
    { ...command(doneOrOpen), group },
    ...steps.map((option) => ({ ...command(option), group, isStep: true })),
    { ...command(deletion), group },
  ]
}

/** Lists are offered once something is typed: there can be many. */
function usePages(showsLists: boolean): Option[] {
  const [, navigate] = useLocation()
  const { can, isServiceWide } = useMe()
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
    ...settingsPages({ isAdmin: can('admin'), isServiceWide }).map(({ path, label }) => ({
      ...page(label, path),
      keywords: 'settings',
    })),
    { ...page('API reference', '/docs'), run: () => location.assign('/docs') },
  ]
}

function useFoundTasks(text: string) {
  const [, navigate] = useLocation()
  const { can } = useMe()
  const [queried] = useDebouncedValue(text, TYPING_MS)
  const isEnabled = queried.length >= MIN_TEXT && can('tasks:read')
  const { data, isFetching } = useQuery({
    queryKey: ['found-tasks', queried],
    queryFn: ({ signal }) => fetchTaskPage({ q: queried, sort: DEFAULT_SORT, limit: MAX_FOUND }, signal),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  const options = (isEnabled ? (data?.data ?? []) : []).map((task): Option => {
    const number = task.codehostPrNumber ?? task.codehostIssueNumber
    return {
      id: task.id,
      label: task.title,
      group: 'Tasks',
      aside: number === null ? undefined : `#${number}`,
      isFound: true,
      run: () => navigate(`/tasks/${task.id}`),
    }
  })
  return { options, isSettled: queried === text && !(isEnabled && isFetching) }
}
