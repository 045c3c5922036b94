import { useQueryClient } from '@tanstack/react-query'
import { useReducer, useState } from 'react'
import type { TaskListItem } from '../api/queries.ts'
import { recordsOf } from '../api/task-records.ts'
import { OptionList } from './option-list.tsx'
import type { Option } from './options.ts'
import { type StepProps, tasksText } from './property-steps.tsx'
import { type Person, type Suggestion, usePeople, useTypedNames } from './typed-names.ts'

/** Labels: adds names to the tasks, or removes those that all of them have, until it is closed. */
export const LabelStep = (props: StepProps) => (
  <NameStep
    {...props}
    field="labels"
    noun="label"
    hint="Enter or a number adds or removes a label. Esc closes."
    staysOpen
  />
)

/** Assignees: adds a name to the tasks, or removes it when all of them have it. */
export const AssigneeStep = (props: StepProps) => <NameStep {...props} field="assignees" noun="assignee" />

interface NameStepProps extends StepProps {
  field: 'labels' | 'assignees'
  noun: string
  hint?: string
  staysOpen?: boolean
}

function NameStep({ step: _, field, noun, tasks, actions, ...rest }: NameStepProps) {
  const [text, setText] = useState('')
  const name = text.trim()
  const [projectId, ...otherIds] = new Set(tasks.map((task) => task.projectId))
  const names = useTypedNames({ kind: field, projectId: otherIds.length > 0 ? undefined : projectId, text })
  const people = usePeople({ isEnabled: field === 'assignees' })
  const { isOnAll, toggle } = useToggledNames({ field, tasks, actions })

  const toOption = (name: string): Option => ({
    id: name,
    label: name,
    group: tasksText(tasks),
    isCurrent: isOnAll(name),
    run: () => toggle(name),
  })
  function optionsOf(suggestions: Suggestion[], people: Person[]): Option[] {
    const counts = new Map(suggestions.map(({ name, openCount }) => [name, openCount]))
    const persons = new Map(people.map(({ username, name }) => [username, name]))
    const known = [...new Set([...persons.keys(), ...tasks.flatMap((task) => task[field]), ...counts.keys()])]
    const isNew = name !== '' && !known.some((one) => one.toLowerCase() === name.toLowerCase())
    return [
      ...known.map((name) => ({
        ...toOption(name),
        aside: persons.get(name) ?? counts.get(name)?.toLocaleString(),
        keywords: persons.get(name) ?? '',
      })),
      ...(isNew ? [{ ...toOption(name), label: `New ${noun} “${name}”`, group: 'New', isFound: true }] : []),
    ]
  }
  return (
    <OptionList
      {...rest}
      label={`Add or remove ${noun}`}
      placeholder={`Add or remove ${noun}…`}
      options={optionsOf(names.data, people.data)}
      text={text}
      onType={setText}
      isNumbered
      isSettled={names.isSettled && !people.isLoading}
      isShown={names.isShown && !people.isLoading}
      resolve={async () => optionsOf(await names.load(), await people.load())}
    />
  )
}

/** The names of tasks. Each is as it was chosen here, also while it is being saved. */
function useToggledNames({ field, tasks, actions }: Pick<NameStepProps, 'field' | 'tasks' | 'actions'>) {
  const queryClient = useQueryClient()
  const [chosen] = useState(() => new Map<string, boolean>())
  const [, render] = useReducer((count: number) => count + 1, 0)
  function current(task: TaskListItem): TaskListItem {
    const row = recordsOf(queryClient).row(task.id) ?? task
    const names = new Set(row[field])
    for (const [name, isAdded] of chosen) isAdded ? names.add(name) : names.delete(name)
    return { ...row, [field]: [...names] }
  }
  const isOnAll = (name: string) => tasks.every((task) => current(task)[field].includes(name))
  function toggle(name: string) {
    const isAdded = !isOnAll(name)
    const before = tasks.map(current)
    chosen.set(name, isAdded)
    render()
    void actions.changeNames(before, { field, name, isAdded }).then((failedIds) => {
      if (failedIds.length === 0) return
      chosen.delete(name)
      render()
    })
  }
  return { isOnAll, toggle }
}
