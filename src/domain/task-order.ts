import type { TaskSort } from '../schemas/task-query.ts'
import { isDateTimeKey, isNoKey, isPositionKey, isRankKey, type PageOrder } from './cursor.ts'

/** The sort order of a page of tasks. PostgreSQL makes the keys of its cursors. */
interface TaskOrder extends Pick<PageOrder<never, never>, 'name' | 'isKey'> {
  sortBy: 'created' | 'opened' | 'updated' | 'deleted' | 'priority' | 'reports'
  direction: 'ascending' | 'descending'
}

/** The requested order. The default for the trash is its own: most recently deleted first. */
export function taskOrderOf({ sort, deleted }: { sort?: TaskSort; deleted?: boolean }): TaskOrder {
  const name = sort ?? (deleted ? '-updatedAt' : '-createdAt')
  const order = ORDERS[name]
  if (!deleted) return { ...order, name }
  return { ...order, name: `deleted ${name}`, ...(order.sortBy === 'updated' && { sortBy: 'deleted' }) }
}

const created = { sortBy: 'created', isKey: isNoKey } as const
const opened = { sortBy: 'opened', isKey: isDateTimeKey } as const
const updated = { sortBy: 'updated', isKey: isDateTimeKey } as const
const ORDERS: Record<TaskSort, Omit<TaskOrder, 'name'>> = {
  createdAt: { ...created, direction: 'ascending' },
  '-createdAt': { ...created, direction: 'descending' },
  openedAt: { ...opened, direction: 'ascending' },
  '-openedAt': { ...opened, direction: 'descending' },
  updatedAt: { ...updated, direction: 'ascending' },
  '-updatedAt': { ...updated, direction: 'descending' },
  '-priority': { sortBy: 'priority', direction: 'descending', isKey: isRankKey },
  '-reports': { sortBy: 'reports', direction: 'descending', isKey: isPositionKey },
}
