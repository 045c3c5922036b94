import { TaskPriority } from '../schemas/task.ts'

/** Priorities are kept as ranks, so that they sort as people mean them. */
export const rankOf = (priority: TaskPriority): number => TaskPriority.indexOf(priority) + 1

export const priorityOf = (rank: number): TaskPriority => TaskPriority[rank - 1] ?? 'medium'
