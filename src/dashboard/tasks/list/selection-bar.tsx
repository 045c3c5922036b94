import { ActionIcon, Autocomplete, Button, Menu, Popover } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { XIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { itemsOf, type TaskFilters, type TaskListItem } from '../../api/queries.ts'
import { stoppableProgress } from '../../components/stoppable-progress.tsx'
import type { TaskActions } from '../edits/use-task-actions.ts'
import { PRIORITIES, STATUSES } from '../filters.ts'
import { ListMenuItems } from '../list-menu.tsx'
import { rankOptions, useNames } from '../names.ts'
import styles from './task-list.module.css'
import { useMatchingTasks } from './use-matching-tasks.ts'
import type { Selection } from './use-selection.ts'

/** Fewer are changed before a progress could be read. */
const MIN_TASKS_WITH_PROGRESS = 200

interface SelectionBarProps {
  selection: Selection
  actions: TaskActions
  filters: TaskFilters
}

/** The bulk actions. */
export default function SelectionBar({ selection, actions, filters }: SelectionBarProps) {
  const queryClient = useQueryClient()
  const matching = useMatchingTasks(filters, selection)
  const selectedTasks = () => {
    if (matching.tasks) return matching.tasks
    const activeLists = { queryKey: ['tasks'], type: 'active' } as const
    const cached = queryClient.getQueriesData<{ pages: { data: TaskListItem[] }[] }>(activeLists)
    const rows = cached.flatMap(([, data]) => itemsOf(data))
    return [...new Map(rows.filter(({ id }) => selection.ids.has(id)).map((row) => [row.id, row])).values()]
  }
  /** Selects the tasks that failed again. */
  const run = (mutation: Promise<string[]>) => {
    selection.clear()
    void mutation.then(selection.add)
  }
  const change = (change: Schema<'TaskChange'>) => {
    const tasks = selectedTasks()
    if (tasks.length < MIN_TASKS_WITH_PROGRESS) return run(actions.change(tasks, change))
    const progress = stoppableProgress('Updating tasks', tasks.length)
    run(actions.change(tasks, change, progress).finally(progress.end))
  }
  return (
    <div ref={publishHeight} className={styles.selection} role="toolbar" aria-label="Selected tasks">
      <strong className={styles.count}>
        {(matching.tasks?.length ?? selection.ids.size).toLocaleString()} selected
      </strong>
      {matching.canSelect && (
        <Button variant="subtle" loading={matching.isLoading} onClick={() => void matching.select()}>
          {matching.label}
        </Button>
      )}
      <Button variant="subtle" onClick={() => change({ status: 'done' })}>
        Mark done
      </Button>
      <Picker label="Status" options={STATUSES} onSelect={(status) => change({ status })} />
      <Picker label="Priority" options={PRIORITIES} onSelect={(priority) => change({ priority })} />
      <LabelAdder
        projectId={filters.projectId}
        onAdd={(name) => run(actions.changeNames(selectedTasks(), { field: 'labels', name, isAdded: true }))}
      />
      <Menu position="top">
        <Menu.Target>
          <Button variant="subtle">Move</Button>
        </Menu.Target>
        <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
          <ListMenuItems onPick={(listId) => change({ listId })} />
        </Menu.Dropdown>
      </Menu>
      <Button variant="subtle" color="red" onClick={() => run(actions.remove(selectedTasks()))}>
        Delete
      </Button>
      <ActionIcon className={styles.clear} onClick={selection.clear} aria-label="Clear selection">
        <XIcon size={16} />
      </ActionIcon>
    </div>
  )
}

/** Toasts are placed above the bar by its height. */
function publishHeight(bar: HTMLElement | null) {
  if (!bar) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => style.setProperty('--bar-height', `${bar.offsetHeight + 8}px`))
  observer.observe(bar)
  return () => {
    observer.disconnect()
    style.removeProperty('--bar-height')
  }
}

interface LabelAdderProps {
  projectId: string | undefined
  onAdd(label: string): void
}

/** Tasks of the code host reject labels; a toast says so. */
function LabelAdder({ projectId, onAdd }: LabelAdderProps) {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const [label, setLabel] = useState('')
  const names = useNames({ kind: 'labels', projectId, text: label, isEnabled: isOpen })
  const add = (label: string) => {
    if (label.trim() === '') return
    close()
    onAdd(label.trim())
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add(label)
  }
  return (
    <Popover position="top" opened={isOpen} onDismiss={close} trapFocus shadow="md">
      <Popover.Target>
        <Button variant="subtle" onClick={toggle}>
          Add label
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Add label to selected tasks">
        <form onSubmit={submit} className="row">
          <Autocomplete
            aria-label="Label to add"
            placeholder="regression"
            data-autofocus
            maxLength={100}
            data={names.map(({ name }) => name)}
            filter={rankOptions}
            comboboxProps={{ withinPortal: false, position: 'top' }}
            value={label}
            onChange={setLabel}
            onOptionSubmit={add}
          />
          <Button type="submit" disabled={label.trim() === ''}>
            Add
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

interface PickerProps<T extends string> {
  label: string
  options: Record<T, string>
  onSelect(value: T): void
}

function Picker<T extends string>({ label, options, onSelect }: PickerProps<T>) {
  return (
    <Menu position="top">
      <Menu.Target>
        <Button variant="subtle">{label}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.entries(options) as [T, string][]).map(([value, label]) => (
          <Menu.Item key={value} onClick={() => onSelect(value)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
