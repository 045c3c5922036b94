import type { ComponentType } from 'react'
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
  /** What a row says of its tasks. */
  Facts: ComponentType<{ tasks: TaskListItem[] }>
  /** Merges the tasks of a row. */
  merge(tasks: TaskListItem[]): void
}

/** Whether tasks are feedback of a project with the same note. */
export const areEqual = (tasks: Pick<TaskListItem, 'noteKey' | 'projectId'>[]): boolean =>
  tasks.every(
    ({ noteKey, projectId }) =>
      noteKey !== null && noteKey === tasks[0]?.noteKey && projectId === tasks[0]?.projectId,
  )

export const ungrouped = (rows: TaskListItem[]): TaskGroups => ({
  rows,
  tasksOf: (row) => [row],
  rowIdOf: (id) => id,
})
