import type { TaskListRow, TaskPageRequest } from '../repositories/task-pages.ts'
import type { TaskSort } from '../schemas/task.ts'
import { isDateTimeKey, isNoKey, isRankKey } from './cursor.ts'

/** The sort order of a page of tasks, and the content of its cursors. */
export interface TaskOrder extends Pick<TaskPageRequest, 'by' | 'direction'> {
  /** The sort order that a cursor belongs to; cursors of another order are rejected. */
  name: string
  isKey(key: unknown): boolean
  keyOf(row: TaskListRow): string | number | null
}

/** The requested order. The default for the trash is its own: most recently deleted first. */
export function taskOrderOf({ sort, deleted }: { sort?: TaskSort; deleted?: boolean }): TaskOrder {
  const name = sort ?? (deleted ? '-updatedAt' : '-createdAt')
  const order = ORDERS[name]
  if (!deleted) return { ...order, name }
  return { ...order, ...(order.by === 'updated' && deletion), name: `deleted ${name}` }
}

const created = { by: 'created', isKey: isNoKey, keyOf: () => null } as const
const updated = {
  by: 'updated',
  isKey: isDateTimeKey,
  keyOf: (row: TaskListRow) => row.updatedAt.toISOString(),
} as const
const deletion = {
  by: 'deleted',
  keyOf: (row: TaskListRow) => row.deletedAt?.toISOString() ?? null,
} as const
const ORDERS: Record<TaskSort, Omit<TaskOrder, 'name'>> = {
  createdAt: { ...created, direction: 'ascending' },
  '-createdAt': { ...created, direction: 'descending' },
  updatedAt: { ...updated, direction: 'ascending' },
  '-updatedAt': { ...updated, direction: 'descending' },
  '-priority': { by: 'priority', direction: 'descending', isKey: isRankKey, keyOf: (row) => row.priority },
}
