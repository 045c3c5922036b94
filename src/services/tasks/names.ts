import { isPositionKey, type PageOrder } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { composed } from '../../lib/distinct-ignoring-case.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { NamePosition, UsedName } from '../../repositories/task-names.ts'
import type { TaskName, TaskNameQuery } from '../../schemas/task-name.ts'
import type { Caller } from '../access.ts'
import { type Page, readPage } from '../page.ts'
import { requirePlace } from '../place.ts'

export const taskNameOperations = {
  list: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof taskNamesService>>

/** The labels and assignees in use. */
export function taskNamesService({ repos }: { repos: Repositories }) {
  return {
    /**
     * Most used first.
     * @throws project_not_found, invalid_cursor
     */
    async list(
      caller: Caller,
      { kind, projectId, q, ...request }: { kind: 'label' | 'assignee' } & TaskNameQuery,
    ): Promise<Page<TaskName>> {
      const bound = repos.within(caller)
      await requirePlace(bound, { projectId })
      const { data, nextCursor } = await readPage({
        order: orderOf(kind),
        request,
        read: (after, limit) =>
          bound.taskNames.list({ kind, projectId, text: q && composed(q), after }, limit),
      })
      return { data: data.map(({ key: _, ...name }) => name), nextCursor }
    },
  }
}

/** By number of open tasks, then by name. */
const orderOf = (kind: string): PageOrder<UsedName, NamePosition> => ({
  name: `${kind}s`,
  isKey: isPositionKey,
  isId: (id) => typeof id === 'string',
  cursorOf: ({ openCount, key }) => ({ key: openCount, id: key }),
  startOf: ({ key, id }) => ({ openCount: Number(key), key: id }),
})
