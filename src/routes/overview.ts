import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { FeedbackOverview, Overview, OverviewQuery } from '../schemas/overview.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { overviewOperations } from '../services/overview/index.ts'

/** What flows in and out of the lists, by week. */
export const overviewRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'overview'>> = async (
  app,
  { overview },
) => {
  app.get(
    '',
    {
      config: { operation: overviewOperations.read, errors: ['project_not_found'] },
      schema: {
        tags: ['Tasks'],
        operationId: 'getOverview',
        summary: 'Get the overview',
        description:
          'Returns how many tasks were opened and closed in each of the last weeks, and what waits. Weeks begin on Monday, in UTC. Deleted tasks don’t count, and a task counts in the project that it is in now. The counts follow changes within a minute. For a while after an upgrade or an import, they may not be available (503 `unavailable`).',
        querystring: OverviewQuery,
        response: { 200: responses(ref(Overview), { description: 'The overview.' }) },
      },
    },
    (request) => overview.read(request.caller, request.query),
  )

  app.get(
    '/feedback',
    {
      config: { operation: overviewOperations.readFeedback, errors: ['project_not_found'] },
      schema: {
        tags: ['Tasks'],
        operationId: 'getFeedbackOverview',
        summary: 'Get the overview of feedback',
        description:
          'Returns the sentiments of feedback about each version of the app, and the tasks with most reports, in the last weeks. Tasks count if their metadata has the properties of feedback. Otherwise as in `GET /api/overview`.',
        querystring: OverviewQuery,
        response: { 200: responses(ref(FeedbackOverview), { description: 'The overview of feedback.' }) },
      },
    },
    (request) => overview.readFeedback(request.caller, request.query),
  )
}
