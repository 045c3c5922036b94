import { ActionIcon, Autocomplete, Button, Menu, Popover } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { KebabHorizontalIcon, XIcon } from '@primer/octicons-react'
import { type FormEvent, type ReactElement, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import type { TaskFilters } from '../../api/queries.ts'
import { selectHighlighted, selectNone } from '../../components/select-highlighted.ts'
import { useOverflow } from '../../components/use-overflow.ts'
import { openPalette, type PaletteStep } from '../../keyboard/shortcuts.ts'
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
  const { ref, hidden } = useOverflow()
  const inMenu = (step: PaletteStep) => () => openPalette({ step, tasks, onEdit: run })
  const actionsOfBar: BarAction[] = [
    {
      name: 'done',
      label: 'Mark done',
      lock: locked,
      onSelect: () => change({ status: 'done' }),
    },
    ...(tasks.some(({ triaged }) => !triaged)
      ? [{ name: 'accept', label: 'Accept', onSelect: () => change({ triaged: true }) }]
      : []),
    {
      name: 'status',
      label: 'Status',
      lock: locked,
      onSelect: inMenu('status'),
      button: (
        <Picker
          label="Status"
          lock={locked}
          options={STATUS_CHOICES}
          onSelect={(choice) => change(changeToChoice(choice, tasks))}
        />
      ),
    },
    {
      name: 'priority',
      label: 'Priority',
      onSelect: inMenu('priority'),
      button: <Picker label="Priority" options={PRIORITIES} onSelect={(priority) => change({ priority })} />,
    },
    {
      name: 'label',
      label: 'Add label',
      onSelect: inMenu('labels'),
      button: (
        <LabelAdder
          projectId={filters.projectId}
          onAdd={(name) => run(actions.changeNames(tasks, { field: 'labels', name, isAdded: true }))}
        />
      ),
    },
    {
      name: 'move',
      label: 'Move',
      onSelect: inMenu('list'),
      button: (
        <Menu position="top">
          <Menu.Target>
            <Button variant="subtle">Move</Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} maw={320} style={{ overflowY: 'auto' }}>
            <ListMenuItems onPick={(listId) => change({ listId })} />
          </Menu.Dropdown>
        </Menu>
      ),
    },
    ...(tasks.length > 1
      ? [{ name: 'merge', label: 'Merge', lock: unmergeable, onSelect: inMenu('merge') }]
      : []),
    { name: 'snooze', label: 'Snooze', onSelect: inMenu('snooze') },
    {
      name: 'delete',
      label: 'Delete',
      lock: undeletable,
      isRed: true,
      onSelect: () => run(actions.remove(tasks)),
    },
  ]
  return (
    <div ref={publishHeight} className={styles.selection} role="toolbar" aria-label="Selected tasks">
      <strong>{tasks.length.toLocaleString()} selected</strong>
      <div ref={ref} className={styles.actions}>
        {matching.canSelect && (
          <Button
            variant="subtle"
            loading={matching.isLoading}
            data-item="matching"
            onClick={() => void matching.select()}
          >
            {matching.label}
            <span className={styles.words}>&nbsp;that match</span>
          </Button>
        )}
        {actionsOfBar.map(({ name, label, lock, isRed, button, onSelect }) => (
          <span key={name} data-item={name}>
            {button ?? (
              <Button
                variant="subtle"
                color={isRed ? 'red' : 'accent'}
                disabled={lock !== undefined}
                title={lock}
                onClick={onSelect}
              >
                {label}
              </Button>
            )}
          </span>
        ))}
      </div>
      {hidden.length > 0 && (
        <Menu position="top-end">
          <Menu.Target>
            <ActionIcon aria-label="More actions for selected tasks">
              <KebabHorizontalIcon size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {hidden.includes('matching') && (
              <Menu.Item onClick={() => void matching.select()}>{matching.label} that match</Menu.Item>
            )}
            {actionsOfBar
              .filter(({ name }) => hidden.includes(name))
              .map(({ name, label, lock, isRed, onSelect }) => (
                <Menu.Item
                  key={name}
                  disabled={lock !== undefined}
                  title={lock}
                  {...(isRed && { c: 'var(--red)' })}
                  onClick={onSelect}
                >
                  {label}
                </Menu.Item>
              ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <ActionIcon onClick={selection.clear} aria-label="Clear selection">
        <XIcon size={16} />
      </ActionIcon>
    </div>
  )
}

/** As in the style. */
const BOTTOM_PX = 16

interface BarAction {
  name: string
  label: string
  /** Why it can't be used. */
  lock?: string | undefined
  isRed?: boolean
  /** In the menu, and in the bar where it has no other button. */
  onSelect(): void
  button?: ReactElement
}

/** Toasts are placed above the bar by its height, and the list ends there. */
function publishHeight(bar: HTMLElement | null) {
  if (!bar) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() =>
    style.setProperty('--bar-height', `${bar.offsetHeight + BOTTOM_PX}px`),
  )
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
