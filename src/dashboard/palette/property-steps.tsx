import { useState } from 'react'
import type { Schema } from '../api/client.ts'
import type { TaskListItem } from '../api/queries.ts'
import { useAllLists } from '../api/use-all-lists.ts'
import type { PaletteStep } from '../keyboard/shortcuts.ts'
import { plural } from '../lib/plural.ts'
import type { TaskActions } from '../tasks/edits/use-task-actions.ts'
import { PRIORITIES } from '../tasks/filters.ts'
import { changeToChoice, STATUS_CHOICES, statusChoiceOf } from '../tasks/status-choice.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'

export interface StepProps {
  step: PaletteStep
  tasks: TaskListItem[]
  actions: TaskActions
  onStep(step: PaletteStep): void
  /** To the step before, if there was one. */
  onBack?(): void
  onChoose?(): void
  onClose(): void
}

/** What every list of options takes. */
export type ListProps = Pick<StepProps, 'onBack' | 'onClose'>

/** The tasks in words. */
export const tasksText = (tasks: TaskListItem[]) =>
  tasks.length === 1 ? `“${tasks[0]?.title}”` : plural(tasks.length, 'selected task')

export const StatusStep = (props: StepProps) => (
  <ValueStep
    {...props}
    label="Set status"
    names={STATUS_CHOICES}
    currentOf={statusChoiceOf}
    changeTo={changeToChoice}
  />
)

export const PriorityStep = (props: StepProps) => (
  <ValueStep
    {...props}
    label="Set priority"
    names={PRIORITIES}
    currentOf={({ priority }) => priority}
    changeTo={(priority) => ({ priority })}
  />
)

interface ValueStepProps<T extends string> extends StepProps {
  label: string
  names: Record<T, string>
  currentOf(task: TaskListItem): T
  changeTo(value: T, tasks: TaskListItem[]): Schema<'TaskChange'>
}

function ValueStep<T extends string>(props: ValueStepProps<T>) {
  const { label, names, currentOf, changeTo, tasks, actions, ...rest } = props
  const [text, setText] = useState('')
  const options = (Object.entries(names) as [T, string][]).map(
    ([value, name]): Option => ({
      id: value,
      label: name,
      group: tasksText(tasks),
      isCurrent: tasks.every((task) => currentOf(task) === value),
      run: () => void actions.change(tasks, changeTo(value, tasks)),
    }),
  )
  return (
    <OptionList
      {...rest}
      label={label}
      placeholder={`${label}…`}
      options={options}
      text={text}
      onType={setText}
      isNumbered
      isSettled
    />
  )
}

export function ListStep({ tasks, actions, ...rest }: StepProps) {
  const [text, setText] = useState('')
  const allLists = useAllLists()
  const options = allLists.flatMap(({ project, lists }) =>
    lists.map(
      ({ id, name }): Option => ({
        id,
        label: name,
        group: project.name,
        keywords: project.name,
        isCurrent: tasks.every(({ listId }) => listId === id),
        run: () => void actions.change(tasks, { listId: id }),
      }),
    ),
  )
  return (
    <OptionList
      {...rest}
      label="Move to list"
      placeholder="Move to list…"
      options={options}
      text={text}
      onType={setText}
      isNumbered
      // Every project has at least one list.
      isSettled={allLists.length > 0 && allLists.every(({ lists }) => lists.length > 0)}
    />
  )
}
