import type { TaskSort } from '../schemas/task-query.ts'
import {
  isDateTimeKey,
  isNoKey,
  isPositionKey,
  isRankKey,
  type PageCursor,
  type PageOrder,
} from './cursor.ts'
import type { StoredTask } from './task.ts'

/** The sort order of a page of tasks, and the content of its cursors. */
export interface TaskOrder extends PageOrder<SortedTask, PageCursor> {
  sortBy: 'created' | 'opened' | 'updated' | 'deleted' | 'priority' | 'reports'
  direction: 'ascending' | 'descending'
}

type SortedTask = Pick<StoredTask, 'id' | 'openedAt' | 'updatedAt' | 'deletedAt' | 'priority' | 'reportCount'>

/** The requested order. The default for the trash is its own: most recently deleted first. */
export function taskOrderOf({ sort, deleted }: { sort?: TaskSort; deleted?: boolean }): TaskOrder {
  const name = sort ?? (deleted ? '-updatedAt' : '-createdAt')
  const order = ORDERS[name]
  if (!deleted) return orderNamed(name, order)
  return orderNamed(`deleted ${name}`, { ...order, ...(order.sortBy === 'updated' && deletion) })
}

interface Sort extends Pick<TaskOrder, 'sortBy' | 'direction' | 'isKey'> {
  keyOf(task: SortedTask): PageCursor['key']
}

const orderNamed = (name: string, { keyOf, ...sort }: Sort): TaskOrder => ({
  ...sort,
  name,
  cursorOf: (task) => ({ key: keyOf(task), id: task.id }),
  startOf: (cursor) => cursor,
})

const created = { sortBy: 'created', isKey: isNoKey, keyOf: () => null } as const
const opened = {
  sortBy: 'opened',
  isKey: isDateTimeKey,
  keyOf: (task: SortedTask) => task.openedAt.toISOString(),
} as const
const updated = {
  sortBy: 'updated',
  isKey: isDateTimeKey,
  keyOf: (task: SortedTask) => task.updatedAt.toISOString(),
} as const
const deletion = {
  sortBy: 'deleted',
  keyOf: (task: SortedTask) => task.deletedAt?.toISOString() ?? null,
} as const
const ORDERS: Record<TaskSort, Sort> = {
  createdAt: { ...created, direction: 'ascending' },
  '-createdAt': { ...created, direction: 'descending' },
  openedAt: { ...opened, direction: 'ascending' },
  '-openedAt': { ...opened, direction: 'descending' },
  updatedAt: { ...updated, direction: 'ascending' },
  '-updatedAt': { ...updated, direction: 'descending' },
  '-priority': {
    sortBy: 'priority',
    direction: 'descending',
    isKey: isRankKey,
    keyOf: (task) => task.priority,
  },
  '-reports': {
    sortBy: 'reports',
    direction: 'descending',
    isKey: isPositionKey,
    keyOf: (task) => task.reportCount,
  },
}
