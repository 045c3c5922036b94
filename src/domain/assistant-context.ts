import type { Context } from '../schemas/context.ts'
import type { Rule } from '../schemas/rule.ts'
import { taskLines } from './task-lines.ts'

/** A rule as an instruction. All that assistants get are active. */
export const briefRule = ({ id, content, priority, projectId, paths }: Rule) => ({
  id,
  content,
  priority,
  projectId,
  ...(paths.length > 0 && { paths }),
})

/** A context whose latest tasks are as short as in a list of tasks, so that it is never larger than the whole one. */
export function briefTasks<C extends Pick<Context, 'lists' | 'tasks'>>({ tasks, ...rest }: C) {
  if (!tasks) return rest
  const listNames = new Map(rest.lists.map(({ id, name }) => [id, name]))
  return { ...rest, tasks: { ...tasks, recent: taskLines(tasks.recent, listNames) } }
}
