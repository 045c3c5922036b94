import { AppError } from './app-error.ts'

const conflict = (detail: string) => new AppError('merge_conflict', { detail })

export const mergedIntoItself = (id: string) =>
  conflict(`Task ${id} can’t be merged into itself. Choose another task.`)

export const mergedTask = ({ id, mergedInto }: { id: string; mergedInto: string }) =>
  conflict(`Task ${id} is merged into task ${mergedInto}. Unmerge it first.`)

export const mergedTarget = ({ id, mergedInto }: { id: string; mergedInto: string }) =>
  conflict(
    `Task ${id} is itself merged into task ${mergedInto}. Merge into that task, or unmerge ${id} first.`,
  )

export const taskWithReports = (id: string) =>
  conflict(`Other tasks are merged into task ${id}. Unmerge them first.`)

export const mergedAcrossProjects = () =>
  conflict('A task can only be merged into a task of the same project. Move one of them first.')
