import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { Rotation } from '../schemas/key.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookDeliveryPath,
  WebhookDeliveryQuery,
  WebhookPage,
  WebhookWithSecret,
} from '../schemas/webhook.ts'
import type { Services } from '../services/index.ts'
import { webhookDeliveryOperations } from '../services/webhooks/deliveries.ts'
import { webhookOperations } from '../services/webhooks/index.ts'

const tags = ['Webhooks']
const SECRET_ERRORS = ['idempotency_not_supported', 'encryption_key_missing', 'project_archived'] as const

/** Creates, lists, updates, and deletes outgoing webhooks, and returns and repeats their deliveries. */
export const webhooksRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'webhooks' | 'webhookDeliveries'>
> = async (app, { webhooks, webhookDeliveries }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: webhookOperations.create,
        errors: [...SECRET_ERRORS, 'project_not_found', 'webhook_url_not_allowed', 'too_many_webhooks'],
      },
      schema: {
        tags,
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'Creates an outgoing webhook: each matching activity from now on is sent to its URL, signed as Standard Webhooks says. The secret is only returned once. At most 20 can exist.',
        body: ref(NewWebhook),
        response: {
          201: responses(ref(WebhookWithSecret), {
            description: 'The created webhook with its secret.',
            headers: { location: Location },
          }),
        },
      },
    },
    async (request, reply) => {
      const webhook = await webhooks.create(request.caller, request.body)
      return reply.status(201).header('location', `/api/webhooks/${webhook.id}`).send(webhook)
    },
  )

  app.get(
    '',
    {
      config: { operation: webhookOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Returns a page of outgoing webhooks, oldest first, without their secrets.',
        querystring: PageQuery,
        response: { 200: responses(WebhookPage, { description: 'A page of webhooks.' }) },
      },
    },
    (request) => webhooks.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: webhookOperations.get, errors: ['webhook_not_found'] },
      schema: {
        tags,
        operationId: 'getWebhook',
        summary: 'Retrieve a webhook',
        description: 'Returns an outgoing webhook.',
        params: IdPath('webhook'),
        response: { 200: responses(ref(Webhook), { description: 'The webhook.' }) },
      },
    },
    (request) => webhooks.get(request.caller, request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: webhookOperations.update,
        errors: [
          'webhook_not_found',
          'webhook_url_not_allowed',
          'webhook_secret_missing',
          'project_archived',
        ],
      },
      schema: {
        tags,
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Updates the given fields of a webhook. When it is switched on, deliveries that were waiting are sent; what has changed in the meantime is not. A new URL is tried at once.',
        params: IdPath('webhook'),
        body: ref(WebhookChange),
        response: { 200: responses(ref(Webhook), { description: 'The updated webhook.' }) },
      },
    },
    (request) => webhooks.update(request.caller, { ...request.params, change: request.body }),
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: webhookOperations.rotate,
        errors: [...SECRET_ERRORS, 'webhook_not_found', 'too_many_secrets'],
      },
      schema: {
        tags,
        operationId: 'rotateOutgoingWebhookSecret',
        summary: 'Rotate the secret of a webhook',
        description:
          'Replaces the secret. For `overlapSeconds` (one day by default), deliveries have signatures of both secrets. At most two are valid at a time.',
        params: IdPath('webhook'),
        body: ref(Rotation),
        response: { 200: responses(ref(WebhookWithSecret), { description: 'The webhook with its secret.' }) },
      },
    },
    (request) => webhooks.rotate(request.caller, { ...request.params, ...request.body }),
  )

  app.delete(
    '/:id',
    {
      config: { operation: webhookOperations.delete, errors: ['webhook_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Deletes a webhook with its deliveries.',
        params: IdPath('webhook'),
        response: { 204: emptyResponse('The webhook is deleted.') },
      },
    },
    async (request, reply) => {
      await webhooks.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/test',
    {
      config: {
        operation: webhookDeliveryOperations.test,
        errors: ['webhook_not_found', 'webhook_secret_missing'],
      },
      schema: {
        tags,
        operationId: 'testWebhook',
        summary: 'Test a webhook',
        description:
          'Sends a delivery of the type `webhook.test` once, also to a webhook that is switched off, and returns its outcome. A failure has no effect on other deliveries.',
        params: IdPath('webhook'),
        response: { 200: responses(ref(WebhookDelivery), { description: 'The delivery.' }) },
      },
    },
    (request) => webhookDeliveries.test(request.caller, request.params.id),
  )

  app.get(
    '/:id/deliveries',
    {
      config: { operation: webhookDeliveryOperations.list, errors: ['webhook_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        summary: 'List deliveries of a webhook',
        description:
          'Returns a page of the deliveries of a webhook, newest first. Finished deliveries are kept for 7 days.',
        params: IdPath('webhook'),
        querystring: WebhookDeliveryQuery,
        response: { 200: responses(WebhookDeliveryPage, { description: 'A page of deliveries.' }) },
      },
    },
    (request) => webhookDeliveries.list(request.caller, { ...request.params, query: request.query }),
  )

  app.post(
    '/:id/retry',
    {
      config: {
        operation: webhookDeliveryOperations.retryAll,
        errors: ['webhook_not_found', 'webhook_not_active', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'retryWebhookDeliveries',
        summary: 'Retry all deliveries of a webhook',
        description:
          'Ends the wait after a failure: the oldest delivery is sent now, and after it, unless it fails again, all that wait, in their order. Without effect if nothing waits.',
        params: IdPath('webhook'),
        response: { 200: responses(ref(Webhook), { description: 'The webhook.' }) },
      },
    },
    (request) => webhookDeliveries.retryAll(request.caller, request.params.id),
  )

  app.post(
    '/:id/deliveries/:deliveryId/retry',
    {
      config: {
        operation: webhookDeliveryOperations.retry,
        errors: [
          'webhook_not_found',
          'delivery_not_found',
          'delivery_not_replayable',
          'webhook_not_active',
          'project_archived',
        ],
      },
      schema: {
        tags,
        operationId: 'retryWebhookDelivery',
        summary: 'Retry a delivery of a webhook',
        description:
          'Sends a delivery again, with the same `webhook-id`, also if it was delivered. After a failure, the webhook stops waiting, and its oldest delivery is sent first.',
        params: WebhookDeliveryPath,
        response: { 200: responses(ref(WebhookDelivery), { description: 'The delivery.' }) },
      },
    },
    (request) => webhookDeliveries.retry(request.caller, request.params),
  )
}
