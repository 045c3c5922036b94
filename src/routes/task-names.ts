import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { responses } from '../schemas/responses.ts'
import { TaskNamePage, TaskNameQuery } from '../schemas/task-name.ts'
import type { Services } from '../services/index.ts'
import { taskNameOperations } from '../services/tasks/names.ts'

/** Labels and assignees in use, for suggestions. */
export const taskNamesRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'taskNames'>> = async (
  app,
  { taskNames },
) => {
  for (const [path, kind, operationId, summary] of [
    ['/labels', 'label', 'listLabels', 'List labels'],
    ['/assignees', 'assignee', 'listAssignees', 'List assignees'],
  ] as const) {
    app.get(
      path,
      {
        config: { operation: taskNameOperations.list, errors: ['project_not_found', 'invalid_cursor'] },
        schema: {
          tags: ['Tasks'],
          operationId,
          summary,
          description:
            'Returns the names in use, the most used first. Names that differ only in case count as one. The counts include all changes completed before the request. With more than 20,000 names, the rarest aren’t returned.',
          querystring: TaskNameQuery,
          response: { 200: responses(TaskNamePage, { description: 'A page of names.' }) },
        },
      },
      (request) => taskNames.list(request.caller, { kind, ...request.query }),
    )
  }
}
