import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { responses } from '../schemas/responses.ts'
import { TaskNameList, TaskNameQuery } from '../schemas/task-name.ts'
import type { Services } from '../services/index.ts'
import { taskNameOperations } from '../services/tasks/names.ts'

/** What tasks are labelled with and who works on them, for suggestions. */
export const taskNamesRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'taskNames'>> = async (
  app,
  { taskNames },
) => {
  for (const [path, kind, operationId, summary] of [
    ['/labels', 'label', 'listLabels', 'List the labels of tasks'],
    ['/assignees', 'assignee', 'listAssignees', 'List the assignees of tasks'],
  ] as const) {
    app.get(
      path,
      {
        config: { operation: taskNameOperations.list, mistakes: ['project_not_found'] },
        schema: {
          tags: ['Tasks'],
          operationId,
          summary,
          description:
            'Returns the most used first, at most 100. Names that differ in case only are one. The counts include every change that was answered before the request; where there are over 20,000 names, the rarest are not looked through.',
          querystring: TaskNameQuery,
          response: { 200: responses(TaskNameList, 'The most used names.') },
        },
      },
      (request) => taskNames.list(request.caller, kind, request.query),
    )
  }
}
