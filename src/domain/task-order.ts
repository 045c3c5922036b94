import type { TaskSort } from '../schemas/task.ts'
import { isDateTimeKey, isNoKey, isRankKey } from './cursor.ts'
import type { StoredTask } from './task.ts'

/** The sort order of a page of tasks, and the content of its cursors. */
export interface TaskOrder {
  sortBy: 'created' | 'updated' | 'deleted' | 'priority'
  direction: 'ascending' | 'descending'
  /** The sort order that a cursor belongs to; cursors of another order are rejected. */
  name: string
  isKey(key: unknown): boolean
  keyOf(task: SortedTask): string | number | null
}

type SortedTask = Pick<StoredTask, 'updatedAt' | 'deletedAt' | 'priority'>

/** The requested order. The default for the trash is its own: most recently deleted first. */
export function taskOrderOf({ sort, deleted }: { sort?: TaskSort; deleted?: boolean }): TaskOrder {
  const name = sort ?? (deleted ? '-updatedAt' : '-createdAt')
  const order = ORDERS[name]
  if (!deleted) return { ...order, name }
  return { ...order, ...(order.sortBy === 'updated' && deletion), name: `deleted ${name}` }
}

const created = { sortBy: 'created', isKey: isNoKey, keyOf: () => null } as const
const updated = {
  sortBy: 'updated',
  isKey: isDateTimeKey,
  keyOf: (task: SortedTask) => task.updatedAt.toISOString(),
} as const
const deletion = {
  sortBy: 'deleted',
  keyOf: (task: SortedTask) => task.deletedAt?.toISOString() ?? null,
} as const
const ORDERS: Record<TaskSort, Omit<TaskOrder, 'name'>> = {
  createdAt: { ...created, direction: 'ascending' },
  '-createdAt': { ...created, direction: 'descending' },
  updatedAt: { ...updated, direction: 'ascending' },
  '-updatedAt': { ...updated, direction: 'descending' },
  '-priority': {
    sortBy: 'priority',
    direction: 'descending',
    isKey: isRankKey,
    keyOf: (task) => task.priority,
  },
}
