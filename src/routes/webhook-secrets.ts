import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { Rotation } from '../schemas/key.ts'
import { IdPath, ref, StrictObject } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import {
  type FeedbackReceiver,
  WebhookSecretPage,
  WebhookSecretWithValue,
} from '../schemas/webhook-secret.ts'
import type { Services } from '../services/index.ts'
import { webhookSecretOperations } from '../services/webhook-secrets.ts'
import { overlapOf } from './keys.ts'

const tags = ['Access']

/** Creates, lists, rotates and revokes the secrets of the feedback receiver. */
export const webhookSecretsRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'webhookSecrets'> & { receiver: FeedbackReceiver }
> = async (app, { webhookSecrets, receiver }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: webhookSecretOperations.create,
        errors: ['idempotency_not_supported', 'too_many_secrets'],
      },
      schema: {
        tags,
        operationId: 'createWebhookSecret',
        summary: 'Create a webhook secret',
        description:
          'Creates a secret for the feedback receiver. It is only returned once. At most two secrets work at a time, in addition to `WEBHOOK_SECRET`.',
        body: Type.Optional(StrictObject({}, { description: 'No input.' })),
        response: {
          201: responses(ref(WebhookSecretWithValue), {
            description: 'The created secret.',
          }),
        },
      },
    },
    async (request, reply) => {
      const made = await webhookSecrets.create(request.caller)
      return reply.status(201).send(made)
    },
  )

  app.get(
    '',
    {
      config: { operation: webhookSecretOperations.list },
      schema: {
        tags,
        operationId: 'listWebhookSecrets',
        summary: 'List webhook secrets',
        description:
          'Returns the active secrets, oldest first, without their values. There are at most two, so there is only one page. Includes the configuration of the receiver.',
        response: { 200: responses(WebhookSecretPage, { description: 'The active secrets.' }) },
      },
    },
    async () => ({ ...(await webhookSecrets.list()), receiver }),
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: webhookSecretOperations.rotate,
        errors: ['idempotency_not_supported', 'webhook_secret_not_found', 'too_many_secrets'],
      },
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate a webhook secret',
        description:
          'Creates a new secret. The previous one keeps working for `overlapSeconds` (one day by default).',
        params: IdPath('webhook secret'),
        body: ref(Rotation),
        response: { 200: responses(ref(WebhookSecretWithValue), { description: 'The new secret.' }) },
      },
    },
    (request) =>
      webhookSecrets.rotate(request.caller, {
        id: request.params.id,
        overlapSeconds: overlapOf(request.body),
      }),
  )

  app.delete(
    '/:id',
    {
      config: { operation: webhookSecretOperations.revoke, errors: ['webhook_secret_not_found'] },
      schema: {
        tags,
        operationId: 'revokeWebhookSecret',
        summary: 'Revoke a webhook secret',
        description: 'Revokes the secret at once, on every instance.',
        params: IdPath('webhook secret'),
        response: { 204: emptyResponse('The secret is revoked.') },
      },
    },
    async (request, reply) => {
      await webhookSecrets.revoke(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
