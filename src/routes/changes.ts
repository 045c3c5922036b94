import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { serialized } from '../plugins/pages.ts'
import { ChangePage, ChangesQuery } from '../schemas/changes.ts'
import { responses } from '../schemas/responses.ts'
import { changesOperations } from '../services/activity/changes.ts'
import type { Services } from '../services/index.ts'

/** The activity log for programs, with cursors and long polls. */
export const changesRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'changes'>> = async (
  app,
  { changes },
) => {
  app.get(
    '',
    {
      config: {
        operation: changesOperations.list,
        isLong: waits,
        errors: ['invalid_cursor', 'project_not_found'],
      },
      schema: {
        tags: ['Activity'],
        operationId: 'listChanges',
        summary: 'Read changes',
        description:
          'Returns activity in a fixed order, for programs that follow what changes: a cursor never misses an activity and never repeats one, whichever instance you ask, and activity of a task is in the order of its versions. Process `data`, store `nextCursor`, and send it as `cursor`. A page may have less than `limit` activities, or none, while `hasMore` is true. A key bound to a project only sees activity about that project. After the database was restored or replaced by an import, cursors issued before return 400 `invalid_cursor`: read everything again.',
        querystring: ChangesQuery,
        response: { 200: responses(ChangePage, { description: 'Activity after the cursor.' }) },
      },
    },
    async (request, reply) => {
      const { items, ...rest } = await changes.list(request.caller, {
        query: request.query,
        ending: reply.untilEnd(),
      })
      return serialized<ChangePage>(reply, `{"data":[${items}],${JSON.stringify(rest).slice(1)}`)
    },
  )
}

/** Cast: the query is validated before limits are checked. */
const waits = ({ query }: FastifyRequest) => Number((query as ChangesQuery).wait) > 0
