import type { TaskListRow, TaskPageRequest } from '../repositories/task-pages.ts'
import type { TaskSort } from '../schemas/task.ts'
import { isDateTimeKey, isNoKey, isRankKey } from './cursor.ts'

/** How a page of tasks is ordered, and what its cursors hold. */
export interface TaskOrder extends Pick<TaskPageRequest, 'by' | 'direction'> {
  /** Which order a cursor is of: one of another order is refused. */
  name: string
  isKey(key: unknown): boolean
  keyOf(row: TaskListRow): string | number | null
}

/** The order that was asked for. The trash has its own: newest deletion first, unless asked otherwise. */
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
