import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Activity, ActivityPage, ActivityQuery, NewActivity } from '../schemas/activity.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { Location, responses } from '../schemas/responses.ts'
import { activityOperations } from '../services/activity/index.ts'
import type { Services } from '../services/index.ts'

const tags = ['Activity']

/** Add to the record, and read it. */
export const activityRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { activity } = service

  app.post(
    '',
    {
      config: {
        operation: activityOperations.log,
        mistakes: ['task_not_found', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'logActivity',
        summary: 'Log activity',
        description:
          'Adds an entry to the record, under the name of the key. Entries are never changed and never deleted.',
        headers: IdempotencyKey,
        body: ref(NewActivity),
        response: { 201: responses(ref(Activity), 'The entry that was added.', { location: Location }) },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ activity }) => {
        const body = await activity.log(request.caller, request.body)
        return { status: 201, headers: { location: `/api/activity/${body.id}` }, body }
      }),
  )

  app.get(
    '',
    {
      config: {
        operation: activityOperations.list,
        mistakes: ['invalid_cursor', 'project_not_found', 'task_not_found'],
      },
      schema: {
        tags,
        operationId: 'listActivity',
        summary: 'List activity',
        description:
          'One page of the entries that pass all filters, newest first. A key that is bound to a project sees what is about that project.',
        querystring: ActivityQuery,
        response: { 200: responses(ActivityPage, 'A page of entries.') },
      },
    },
    async (request, reply) => reply.sendPage(await activity.list(request.caller, request.query)),
  )

  app.get(
    '/:id',
    {
      config: { operation: activityOperations.get, mistakes: ['activity_not_found'] },
      schema: {
        tags,
        operationId: 'getActivity',
        summary: 'Read an entry',
        description: 'Answers one entry of the record.',
        params: IdPath('entry'),
        response: { 200: responses(ref(Activity), 'The entry.') },
      },
    },
    (request) => activity.get(request.caller, request.params.id),
  )
}
