import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Activity, ActivityPage, ActivityQuery, NewActivity } from '../schemas/activity.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { Location, responses } from '../schemas/responses.ts'
import { activityOperations } from '../services/activity/index.ts'
import type { Services } from '../services/index.ts'

const tags = ['Activity']

/** Writes to the activity log, and reads it. */
export const activityRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { activity } = service

  app.post(
    '',
    {
      config: {
        operation: activityOperations.log,
        errors: ['task_not_found', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'logActivity',
        summary: 'Log activity',
        description:
          'Adds an activity to the activity log, with the key as the actor. Activities can’t be changed or deleted.',
        headers: IdempotencyKey,
        body: ref(NewActivity),
        response: {
          201: responses(ref(Activity), {
            description: 'The logged activity.',
            headers: { location: Location },
          }),
        },
      },
    },
    (request, reply) =>
      app.withIdempotencyKey({ request, reply, responseOf }, (idempotencyKey) =>
        activity.log(request.caller, { input: request.body, idempotencyKey }),
      ),
  )

  app.get(
    '',
    {
      config: {
        operation: activityOperations.list,
        errors: ['invalid_cursor', 'project_not_found', 'task_not_found'],
      },
      schema: {
        tags,
        operationId: 'listActivity',
        summary: 'List activity',
        description:
          'Returns a page of activities that match all filters, newest first. A key bound to a project only sees activity about that project.',
        querystring: ActivityQuery,
        response: { 200: responses(ActivityPage, { description: 'A page of activities.' }) },
      },
    },
    (request) => activity.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: activityOperations.get, errors: ['activity_not_found'] },
      schema: {
        tags,
        operationId: 'getActivity',
        summary: 'Retrieve an activity',
        description: 'Returns an activity.',
        params: IdPath('activity'),
        response: { 200: responses(ref(Activity), { description: 'The activity.' }) },
      },
    },
    (request) => activity.get(request.caller, request.params.id),
  )
}

const responseOf = (activity: Activity) => ({
  status: 201,
  headers: { location: `/api/activity/${activity.id}` },
  body: activity,
})
