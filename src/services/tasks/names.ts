import type { Operations } from '../../domain/operation.ts'
import { composed } from '../../lib/distinct-ignoring-case.ts'
import type { Repositories } from '../../repositories/index.ts'
import { MAX_TASK_NAMES, type TaskNameList, type TaskNameQuery } from '../../schemas/task-name.ts'
import type { Caller } from '../access.ts'
import { requirePlace } from '../place.ts'

export const taskNameOperations = {
  list: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof taskNamesService>>

/** The labels and assignees in use. */
export function taskNamesService({ repos }: { repos: Repositories }) {
  return {
    async list(
      caller: Caller,
      { kind, projectId, q }: { kind: 'label' | 'assignee' } & TaskNameQuery,
    ): Promise<TaskNameList> {
      const bound = repos.within(caller)
      await requirePlace(bound, { projectId })
      return { data: await bound.taskNames.list({ kind, projectId, text: q && composed(q) }, MAX_TASK_NAMES) }
    },
  }
}
