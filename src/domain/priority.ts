import { TaskPriority } from '../schemas/task.ts'

/** Priorities are stored as ranks, so that they sort by urgency. */
export const rankOf = (priority: TaskPriority): number => TaskPriority.indexOf(priority) + 1

export const priorityOf = (rank: number): TaskPriority => TaskPriority[rank - 1] ?? 'medium'
