import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { ApiKeyPage, ApiKeyWithSecret, NewApiKey, Rotation } from '../schemas/key.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { keyOperations } from '../services/keys.ts'

const tags = ['Access']

/** Make, list, rotate and revoke API keys. */
export const keysRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'keys'>> = async (app, { keys }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: keyOperations.create,
        mistakes: ['idempotency_not_supported', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create an API key',
        description:
          'Makes a key; the answer is the only one that holds its secret. No key makes one stronger than itself: not with more scopes, not with a wider reach, not with a later expiry.',
        body: ref(NewApiKey),
        response: {
          201: responses(ref(ApiKeyWithSecret), 'The key with its secret.', { location: Location }),
        },
      },
    },
    async (request, reply) => {
      const made = await keys.create(request.caller, request.body)
      return reply.status(201).header('location', `/api/keys/${made.id}`).send(made)
    },
  )

  app.get(
    '',
    {
      config: { operation: keyOperations.list, mistakes: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List API keys',
        description: 'The keys in reach that were not revoked, oldest first; never their secrets.',
        querystring: PageQuery,
        response: { 200: responses(ApiKeyPage, 'A page of keys.') },
      },
    },
    (request) => keys.list(request.caller, request.query),
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: { operation: keyOperations.rotate, mistakes: ['idempotency_not_supported', 'key_not_found'] },
      schema: {
        tags,
        operationId: 'rotateKey',
        summary: 'Rotate an API key',
        description:
          'A new secret for the same key. The secret before works for `overlapSeconds` more (a day if not said), so that its users can change over; older ones end at once. Without overlap its sessions end as well.',
        params: IdPath('key'),
        body: ref(Rotation),
        response: { 200: responses(ref(ApiKeyWithSecret), 'The key with its new secret.') },
      },
    },
    (request) => keys.rotate(request.caller, request.params.id, request.body.overlapSeconds ?? 86_400),
  )

  app.delete(
    '/:id',
    {
      config: { operation: keyOperations.revoke, mistakes: ['key_not_found', 'last_admin_key'] },
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description:
          'Ends the key and every session opened with it, at once and on every instance. The last unbound key with `admin` cannot be revoked (409 `last_admin_key`): create another one first.',
        params: IdPath('key'),
        response: { 204: emptyResponse('It is revoked.') },
      },
    },
    async (request, reply) => {
      await keys.revoke(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
