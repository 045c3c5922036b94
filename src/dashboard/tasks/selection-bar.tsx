import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import type { TaskListItem } from '../api/queries.ts'
import { PRIORITIES, STATUSES } from './filters.ts'
import { ListMenuItems } from './list-menu.tsx'
import styles from './task-list.module.css'
import type { Selection } from './use-selection.ts'
import type { TaskActions } from './use-task-actions.ts'

/** What can be done with all chosen tasks at once. */
export function SelectionBar({ selection, actions }: { selection: Selection; actions: TaskActions }) {
  const cache = useQueryClient()
  const chosen = () => {
    const held = cache.getQueriesData<{ pages: { data: TaskListItem[] }[] }>({ queryKey: ['tasks'] })
    const rows = held.flatMap(([, data]) => data?.pages.flatMap((page) => page.data) ?? [])
    return [...new Map(rows.filter(({ id }) => selection.ids.has(id)).map((row) => [row.id, row])).values()]
  }
  const change = (change: Schema<'TaskChange'>) => {
    void actions.change(chosen(), change)
    selection.clear()
  }
  return (
    <div className={styles.selection} role="toolbar" aria-label="Selected tasks">
      <strong>{selection.ids.size} selected</strong>
      <Button variant="subtle" onClick={() => change({ status: 'done' })}>
        Mark done
      </Button>
      <Picker label="Status" options={STATUSES} onPick={(status) => change({ status })} />
      <Picker label="Priority" options={PRIORITIES} onPick={(priority) => change({ priority })} />
      <Menu position="top">
        <Menu.Target>
          <Button variant="subtle">Move</Button>
        </Menu.Target>
        <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
          <ListMenuItems onPick={(listId) => change({ listId })} />
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="subtle"
        color="red"
        onClick={() => {
          void actions.remove(chosen())
          selection.clear()
        }}
      >
        Delete
      </Button>
      <ActionIcon onClick={selection.clear} aria-label="Clear the selection">
        <IconX size={16} />
      </ActionIcon>
    </div>
  )
}

interface PickerProps<T extends string> {
  label: string
  options: Record<T, string>
  onPick(value: T): void
}

function Picker<T extends string>({ label, options, onPick }: PickerProps<T>) {
  return (
    <Menu position="top">
      <Menu.Target>
        <Button variant="subtle">{label}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.entries(options) as [T, string][]).map(([value, words]) => (
          <Menu.Item key={value} onClick={() => onPick(value)}>
            {words}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
