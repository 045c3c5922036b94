import { TaskPriority } from '../schemas/task.ts'

/** Priorities are stored as ranks from 1, so that they sort by urgency. */
export const PRIORITIES = TaskPriority

export const rankOf = (priority: TaskPriority): number => PRIORITIES.indexOf(priority) + 1

export const priorityOf = (rank: number): TaskPriority => PRIORITIES[rank - 1] ?? 'medium'
