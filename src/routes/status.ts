import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { responses } from '../schemas/responses.ts'
import { Status, StatusQuery } from '../schemas/status.ts'
import type { Services } from '../services/index.ts'
import { statusOperations } from '../services/status/index.ts'

/** How everything does that the service receives and sends through. */
export const statusRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'status'>> = async (app, { status }) => {
  app.get(
    '',
    {
      config: { operation: statusOperations.list, errors: ['project_not_found'] },
      schema: {
        tags: ['Service'],
        operationId: 'getStatus',
        summary: 'Retrieve the status',
        description:
          'Returns everything that Inlet receives and sends through: the feedback receiver, each source, each connected repository, each outgoing webhook, and each identity provider, with how the last attempts ended. A failure is visible within seconds. What concerns the whole service is only returned to callers with the scope `admin`. When one begins to fail, or works again, an activity `pipe.failed` or `pipe.recovered` is logged, at most one of each in five minutes.',
        querystring: StatusQuery,
        response: { 200: responses(Status, { description: 'Everything in reach that matches.' }) },
      },
    },
    (request) => status.list(request.caller, request.query),
  )
}
