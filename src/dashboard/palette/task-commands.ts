import type { TaskListItem } from '../api/queries.ts'
import type { PaletteStep } from '../keyboard/shortcuts.ts'
import { copyLinks } from '../tasks/copy-link.ts'
import { PRIORITIES } from '../tasks/filters.ts'
import { areEqual } from '../tasks/list/grouping.ts'
import { deletionLock, mergeLock, statusLock } from '../tasks/managed.ts'
import { changeToChoice, STATUS_CHOICES, type StatusChoice } from '../tasks/status-choice.ts'
import { type Command, command, type Option } from './options.ts'
import { type StepProps, tasksText } from './property-steps.tsx'

interface TaskCommands extends Pick<StepProps, 'tasks' | 'actions' | 'onStep'> {
  /** Of the person who is signed in. */
  username: string | undefined
  /** Where equal tasks are one row. */
  mergeEqual: ((tasks: TaskListItem[]) => void) | undefined
}

/** What can be done with the tasks. */
export function taskCommands({ tasks, actions, username, mergeEqual, onStep }: TaskCommands): Option[] {
  if (tasks.length === 0) return []
  const isDone = tasks.every(({ status }) => status === 'done')
  const step = (label: string, step: PaletteStep): Command => ({ label, run: () => onStep(step) })
  const isStatusLocked = statusLock(tasks) !== undefined
  const steps = [
    ...(isStatusLocked ? [] : [{ ...step('Set status…', 'status'), shortcut: 's' }]),
    { ...step('Set priority…', 'priority'), shortcut: 'p' },
    { ...step('Add or remove label…', 'labels'), shortcut: 'l' },
    { ...step('Add or remove assignee…', 'assignees'), shortcut: 'a' },
    { ...step('Move to list…', 'list'), shortcut: 'v' },
    { ...step('Snooze…', 'snooze'), shortcut: 'h' },
    ...(mergeLock(tasks) ? [] : [{ ...step('Merge into…', 'merge'), shortcut: 'd' }]),
  ]
  const doneOrOpen: Command = {
    label: isDone ? 'Reopen' : 'Mark done',
    shortcut: 'e',
    run: () => void actions.change(tasks, { status: isDone ? 'open' : 'done' }),
  }
  const acceptance: Command = {
    label: 'Accept',
    shortcut: 'y',
    run: () => void actions.change(tasks, { triaged: true }),
  }
  const deletion: Command = { label: 'Delete', shortcut: '#', run: () => void actions.remove(tasks) }
  const link: Command = {
    label: tasks.length === 1 ? 'Copy link' : 'Copy links',
    shortcut: '.',
    run: () => void copyLinks(tasks),
  }
  const assignment: Command = {
    label: 'Assign to me',
    shortcut: 'i',
    run: () =>
      void (username && actions.changeNames(tasks, { field: 'assignees', name: username, isAdded: true })),
  }
  const merge: Command = { label: 'Merge all equal', shortcut: 'm', run: () => mergeEqual?.(tasks) }
  const options = [
    ...(tasks.some(({ triaged }) => !triaged) ? [command(acceptance)] : []),
    ...(isStatusLocked ? [] : [command(doneOrOpen)]),
    ...(mergeEqual && tasks.length > 1 && areEqual(tasks) && !mergeLock(tasks) ? [command(merge)] : []),
    ...(username ? [command(assignment)] : []),
    ...steps.map((option) => ({ ...command(option), isStep: true })),
    command(link),
    ...(deletionLock(tasks) ? [] : [command(deletion)]),
    ...valueCommands({ tasks, actions, isStatusLocked }),
  ]
  return options.map((option) => ({ ...option, group: tasksText(tasks) }))
}

interface ValueCommands extends Pick<StepProps, 'tasks' | 'actions'> {
  isStatusLocked: boolean
}

/** Each status and priority by its name. */
function valueCommands({ tasks, actions, isStatusLocked }: ValueCommands): Option[] {
  const statuses = (Object.entries(STATUS_CHOICES) as [StatusChoice, string][]).map(([choice, name]) =>
    command({
      label: `Set status: ${name}`,
      run: () => void actions.change(tasks, changeToChoice(choice, tasks)),
    }),
  )
  const priorities = (Object.entries(PRIORITIES) as [keyof typeof PRIORITIES, string][]).map(
    ([priority, name]) =>
      command({ label: `Set priority: ${name}`, run: () => void actions.change(tasks, { priority }) }),
  )
  return [...priorities, ...(isStatusLocked ? [] : statuses)].map((option) => ({ ...option, isHidden: true }))
}
