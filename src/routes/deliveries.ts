import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  CodehostDelivery,
  CodehostDeliveryWithPayload,
  DeliveryPage,
  DeliveryPath,
  DeliveryQuery,
} from '../schemas/delivery.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { SyncPath } from '../schemas/sync-run.ts'
import type { Services } from '../services/index.ts'
import { deliveriesOperations } from '../services/push/inbox.ts'

const tags = ['Code host']

/** The inbox of the push receiver. */
export const deliveriesRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'deliveries' | 'push'>> = async (
  app,
  { deliveries, push },
) => {
  app.get(
    '/:projectId/deliveries',
    {
      config: {
        operation: deliveriesOperations.list,
        errors: ['project_not_found', 'connection_not_found', 'invalid_cursor'],
      },
      schema: {
        tags,
        operationId: 'listCodehostDeliveries',
        summary: 'List deliveries of the code host',
        description:
          'Returns a page of the deliveries that the code host has sent to the webhook of the connection, newest first, without payloads. Deliveries are kept with their payload for 30 days, and dropped ones for 7.',
        params: SyncPath,
        querystring: DeliveryQuery,
        response: { 200: responses(DeliveryPage, { description: 'A page of deliveries.' }) },
      },
    },
    (request) =>
      deliveries.list(request.caller, { projectId: request.params.projectId, query: request.query }),
  )

  app.get(
    '/:projectId/deliveries/:id',
    {
      config: {
        operation: deliveriesOperations.get,
        errors: ['project_not_found', 'connection_not_found', 'delivery_not_found'],
      },
      schema: {
        tags,
        operationId: 'getCodehostDelivery',
        summary: 'Retrieve a delivery of the code host',
        description: 'Returns a delivery with its payload.',
        params: DeliveryPath,
        response: { 200: responses(ref(CodehostDeliveryWithPayload), { description: 'The delivery.' }) },
      },
    },
    (request) => deliveries.get(request.caller, request.params),
  )

  app.post(
    '/:projectId/deliveries/:id/replay',
    {
      config: {
        operation: deliveriesOperations.replay,
        errors: [
          'project_not_found',
          'connection_not_found',
          'delivery_not_found',
          'delivery_not_replayable',
          'project_archived',
        ],
      },
      schema: {
        tags,
        operationId: 'replayCodehostDelivery',
        summary: 'Replay a delivery of the code host',
        description:
          'Applies a delivery again. It is `received` until that is done. What it reports changes nothing if something newer is stored.',
        params: DeliveryPath,
        response: { 200: responses(ref(CodehostDelivery), { description: 'The delivery.' }) },
      },
    },
    async (request) => {
      const delivery = await deliveries.replay(request.caller, request.params)
      push.wake()
      return delivery
    },
  )
}
