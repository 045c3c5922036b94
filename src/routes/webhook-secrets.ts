import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { Rotation } from '../schemas/key.ts'
import { IdPath, ref, StrictObject } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  type FeedbackReceiver,
  WebhookSecretPage,
  WebhookSecretWithValue,
} from '../schemas/webhook-secret.ts'
import type { Services } from '../services/index.ts'
import { webhookSecretOperations } from '../services/webhook-secrets.ts'

const tags = ['Access']

/** Make, list, rotate and revoke the secrets of the feedback receiver. */
export const webhookSecretsRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'webhookSecrets'> & { receiver: FeedbackReceiver }
> = async (app, { webhookSecrets, receiver }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: webhookSecretOperations.create,
        mistakes: ['idempotency_not_supported', 'too_many_secrets'],
      },
      schema: {
        tags,
        operationId: 'createWebhookSecret',
        summary: 'Create a webhook secret',
        description:
          'Makes a secret for the feedback receiver; the answer is the only one that holds it. At most two work at a time, beside the one that the environment may name.',
        body: Type.Optional(StrictObject({}, { description: 'Nothing is asked.' })),
        response: {
          201: responses(ref(WebhookSecretWithValue), 'The secret.', { location: Location }),
        },
      },
    },
    async (request, reply) => {
      const made = await webhookSecrets.create(request.caller)
      return reply.status(201).header('location', `/api/webhook-secrets/${made.id}`).send(made)
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
          'The secrets that work, oldest first; never their values. At most two, so always one page. Beside them, what the environment says of the receiver.',
        response: { 200: responses(WebhookSecretPage, 'The secrets that work.') },
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
        mistakes: ['idempotency_not_supported', 'webhook_secret_not_found', 'too_many_secrets'],
      },
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate a webhook secret',
        description:
          'Makes a new secret; the one it replaces works for `overlapSeconds` more, a day if not said.',
        params: IdPath('webhook secret'),
        body: ref(Rotation),
        response: { 200: responses(ref(WebhookSecretWithValue), 'The new secret.') },
      },
    },
    (request) =>
      webhookSecrets.rotate(request.caller, request.params.id, request.body.overlapSeconds ?? 86_400),
  )

  app.delete(
    '/:id',
    {
      config: { operation: webhookSecretOperations.revoke, mistakes: ['webhook_secret_not_found'] },
      schema: {
        tags,
        operationId: 'revokeWebhookSecret',
        summary: 'Revoke a webhook secret',
        description: 'Ends the secret at once and on every instance.',
        params: IdPath('webhook secret'),
        response: { 204: emptyResponse('It is revoked.') },
      },
    },
    async (request, reply) => {
      await webhookSecrets.revoke(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
