import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DeliveryPage, DeliveryQuery, DeliveryWithPayload } from '../schemas/delivery.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { deliveriesOperations } from '../services/deliveries/index.ts'
import type { Services } from '../services/index.ts'

const tags = ['Deliveries']

/** What arrived at the receivers. */
export const deliveriesRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'deliveries'>> = async (
  app,
  { deliveries },
) => {
  app.get(
    '',
    {
      config: { operation: deliveriesOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listDeliveries',
        summary: 'List deliveries',
        description:
          'Returns a page of what arrived at the feedback receiver, at the sources, and from the code host, newest first, without payloads. Ignored and filtered deliveries are kept for 7 days.',
        querystring: DeliveryQuery,
        response: { 200: responses(DeliveryPage, { description: 'A page of deliveries.' }) },
      },
    },
    (request) => deliveries.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: deliveriesOperations.get, errors: ['delivery_not_found'] },
      schema: {
        tags,
        operationId: 'getDelivery',
        summary: 'Retrieve a delivery',
        description:
          'Returns a delivery; with the scope `admin`, also its payload, which is kept for 30 days.',
        params: IdPath('delivery'),
        response: { 200: responses(ref(DeliveryWithPayload), { description: 'The delivery.' }) },
      },
    },
    (request) => deliveries.get(request.caller, request.params.id),
  )

  app.post(
    '/:id/replay',
    {
      config: {
        operation: deliveriesOperations.replay,
        errors: [
          'delivery_not_found',
          'delivery_not_replayable',
          'source_not_found',
          'project_archived',
          'merge_conflict',
        ],
      },
      schema: {
        tags,
        operationId: 'replayDelivery',
        summary: 'Replay a delivery',
        description:
          'Processes a delivery again. A replay never creates a second task.\n\nFeedback: what was rejected is processed as new; an accepted delivery keeps its task, which moves if the current routing leads to another project.\n\nA source: the current templates are used. A rejected or filtered delivery can now make tasks; an accepted one keeps its tasks, which are updated. If it makes an item `open`, it reopens a task that is done: test the delivery first, with its `deliveryId`, and see `reopens`.\n\nThe code host: the delivery is `pending` until it is applied again. What it reports changes nothing if something newer is stored.',
        params: IdPath('delivery'),
        response: { 200: responses(ref(DeliveryWithPayload), { description: 'The delivery.' }) },
      },
    },
    (request) => deliveries.replay(request.caller, request.params.id),
  )
}
