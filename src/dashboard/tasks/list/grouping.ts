import type { TaskListItem } from '../../api/queries.ts'

/** The rows of a list, and the tasks that each stands for. */
export interface TaskGroups {
  rows: TaskListItem[]
  tasksOf(row: TaskListItem): TaskListItem[]
  /** The row of a task, whatever its place among them. */
  rowIdOf(id: string): string
}

/** How a list shows equal tasks as one row, which keys act on as a whole. */
export interface Grouping {
  groupsOf(tasks: TaskListItem[]): TaskGroups
  /** Merges the tasks of a row. */
  merge(tasks: TaskListItem[]): void
}

type Comparable = Pick<TaskListItem, 'noteKey' | 'projectId'>

/** The same for feedback of a project with the same note; null for tasks that have no equal. */
export const equalKey = ({ noteKey, projectId }: Comparable): string | null =>
  noteKey === null ? null : `${projectId} ${noteKey}`

export function areEqual(tasks: Comparable[]): boolean {
  const [key, ...others] = new Set(tasks.map(equalKey))
  return key !== null && others.length === 0
}

export const ungrouped = (rows: TaskListItem[]): TaskGroups => ({
  rows,
  tasksOf: (row) => [row],
  rowIdOf: (id) => id,
})
