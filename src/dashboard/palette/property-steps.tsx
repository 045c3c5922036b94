import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../api/client.ts'
import type { TaskListItem } from '../api/queries.ts'
import { useAllLists } from '../api/use-all-lists.ts'
import type { PaletteStep } from '../keyboard/shortcuts.ts'
import { plural } from '../lib/plural.ts'
import type { TaskActions } from '../tasks/edits/use-task-actions.ts'
import { PRIORITIES } from '../tasks/filters.ts'
import { namesQuery, TYPING_MS } from '../tasks/names.ts'
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
  onClose(): void
}

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
      // Every project has at least one list.
      isSettled={allLists.length > 0 && allLists.every(({ lists }) => lists.length > 0)}
    />
  )
}

/** Labels or assignees: adds the name to the tasks, or removes it when all of them have it. */
export function NameStep({ step, tasks, actions, ...rest }: StepProps) {
  const field = step === 'labels' ? 'labels' : 'assignees'
  const noun = field === 'labels' ? 'label' : 'assignee'
  const queryClient = useQueryClient()
  const [text, setText] = useState('')
  const name = text.trim()
  const [queried] = useDebouncedValue(name, TYPING_MS)
  const [projectId, ...otherIds] = new Set(tasks.map((task) => task.projectId))
  const queryOf = (text: string) =>
    namesQuery({ kind: field, projectId: otherIds.length > 0 ? undefined : projectId, text })
  const { data = [], isFetching } = useQuery({ ...queryOf(queried), placeholderData: keepPreviousData })

  const isOnAll = (name: string) => tasks.every((task) => task[field].includes(name))
  const toOption = (name: string): Option => ({
    id: name,
    label: name,
    group: tasksText(tasks),
    isCurrent: isOnAll(name),
    run: () => void actions.changeNames(tasks, { field, name, isAdded: !isOnAll(name) }),
  })
  function optionsOf(suggestions: { name: string; openCount: number }[]): Option[] {
    const counts = new Map(suggestions.map(({ name, openCount }) => [name, openCount]))
    const names = [...new Set([...tasks.flatMap((task) => task[field]), ...counts.keys()])]
    const isNew = name !== '' && !names.some((known) => known.toLowerCase() === name.toLowerCase())
    return [
      ...names.map((name) => ({ ...toOption(name), aside: counts.get(name)?.toLocaleString() })),
      ...(isNew ? [{ ...toOption(name), label: `New ${noun} “${name}”`, group: 'New', isFound: true }] : []),
    ]
  }
  return (
    <OptionList
      {...rest}
      label={`Add or remove ${noun}`}
      placeholder={`Add or remove ${noun}…`}
      options={optionsOf(data)}
      text={text}
      onType={setText}
      isSettled={queried === name && !isFetching}
      resolve={async () => optionsOf(await queryClient.fetchQuery(queryOf(name)).catch(() => data))}
    />
  )
}
