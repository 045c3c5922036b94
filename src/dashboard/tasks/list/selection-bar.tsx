import { ActionIcon, Autocomplete, Button, Menu, Popover } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { XIcon } from '@primer/octicons-react'
import { type FormEvent, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import type { TaskFilters } from '../../api/queries.ts'
import { selectHighlighted, selectNone } from '../../components/select-highlighted.ts'
import { openPalette } from '../../keyboard/shortcuts.ts'
import type { TaskActions } from '../edits/use-task-actions.ts'
import { PRIORITIES } from '../filters.ts'
import { ListMenuItems } from '../list-menu.tsx'
import { deletionLock, mergeLock, statusLock } from '../managed.ts'
import { rankOptions, useNames } from '../names.ts'
import { changeToChoice, STATUS_CHOICES } from '../status-choice.ts'
import { endSelection } from './end-selection.ts'
import styles from './task-list.module.css'
import { useMatchingTasks } from './use-matching-tasks.ts'
import type { Selection } from './use-selection.ts'

interface SelectionBarProps {
  selection: Selection
  actions: TaskActions
  filters: TaskFilters
}

/** The bulk actions. */
export default function SelectionBar({ selection, actions, filters }: SelectionBarProps) {
  const matching = useMatchingTasks(filters, selection)
  const { tasks } = selection
  const run = (edit: Promise<string[]>) => void endSelection(selection, edit)
  const [locked, unmergeable, undeletable] = [statusLock(tasks), mergeLock(tasks), deletionLock(tasks)]
  const change = (change: Schema<'TaskChange'>) => run(actions.change(tasks, change))
  return (
    <div ref={publishHeight} className={styles.selection} role="toolbar" aria-label="Selected tasks">
      <strong className={styles.count}>{tasks.length.toLocaleString()} selected</strong>
      {matching.canSelect && (
        <Button variant="subtle" loading={matching.isLoading} onClick={() => void matching.select()}>
          {matching.label}
        </Button>
      )}
      <Button
        variant="subtle"
        disabled={locked !== undefined}
        title={locked}
        onClick={() => change({ status: 'done' })}
      >
        Mark done
      </Button>
      <Picker
        label="Status"
        lock={locked}
        options={STATUS_CHOICES}
        onSelect={(choice) => change(changeToChoice(choice, tasks))}
      />
      <Picker label="Priority" options={PRIORITIES} onSelect={(priority) => change({ priority })} />
      <LabelAdder
        projectId={filters.projectId}
        onAdd={(name) => run(actions.changeNames(tasks, { field: 'labels', name, isAdded: true }))}
      />
      <Menu position="top">
        <Menu.Target>
          <Button variant="subtle">Move</Button>
        </Menu.Target>
        <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
          <ListMenuItems onPick={(listId) => change({ listId })} />
        </Menu.Dropdown>
      </Menu>
      {tasks.length > 1 && (
        <Button
          variant="subtle"
          disabled={unmergeable !== undefined}
          title={unmergeable}
          onClick={() => openPalette({ step: 'merge', tasks })}
        >
          Merge
        </Button>
      )}
      <Button
        variant="subtle"
        color="red"
        disabled={undeletable !== undefined}
        title={undeletable}
        onClick={() => run(actions.remove(tasks))}
      >
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
        <form onSubmit={submit} onKeyDownCapture={selectHighlighted(selectNone)} className="row">
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
  /** Why it can't be used. */
  lock?: string | undefined
  options: Record<T, string>
  onSelect(value: T): void
}

function Picker<T extends string>({ label, lock, options, onSelect }: PickerProps<T>) {
  return (
    <Menu position="top">
      <Menu.Target>
        <Button variant="subtle" disabled={lock !== undefined} title={lock}>
          {label}
        </Button>
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
