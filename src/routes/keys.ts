import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { ApiKeyPage, ApiKeyWithSecret, NewApiKey, Rotation } from '../schemas/key.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { keyOperations } from '../services/keys.ts'

const tags = ['Access']

const DAY_SECONDS = 86_400

export const overlapOf = ({ overlapSeconds = DAY_SECONDS }: Rotation): number => overlapSeconds

/** Creates, lists, rotates and revokes API keys. */
export const keysRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'keys'>> = async (app, { keys }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: keyOperations.create,
        errors: ['idempotency_not_supported', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create an API key',
        description:
          'Creates an API key. The secret is only returned once. A key can’t create a key with more scopes, access to more projects or a later expiry than its own.',
        body: ref(NewApiKey),
        response: {
          201: responses(ref(ApiKeyWithSecret), {
            description: 'The key with its secret.',
          }),
        },
      },
    },
    async (request, reply) => {
      const made = await keys.create(request.caller, request.body)
      return reply.status(201).send(made)
    },
  )

  app.get(
    '',
    {
      config: { operation: keyOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List API keys',
        description:
          'Returns a page of API keys that you can access and that aren’t revoked, oldest first. Secrets are never returned. If you can access all projects, personal keys are included.',
        querystring: PageQuery,
        response: { 200: responses(ApiKeyPage, { description: 'A page of API keys.' }) },
      },
    },
    (request) => keys.list(request.caller, request.query),
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: keyOperations.rotate,
        errors: ['idempotency_not_supported', 'key_not_found'],
      },
      schema: {
        tags,
        operationId: 'rotateKey',
        summary: 'Rotate an API key',
        description:
          'Creates a new secret for the key. The previous secret keeps working for `overlapSeconds` (one day by default); older secrets stop working at once. Until it ends, the previous secret can’t create, rotate, or revoke keys or secrets. A session ends with the secret that opened it. A personal key gets a new secret only from its person (403 `personal_key`).',
        params: IdPath('key'),
        body: ref(Rotation),
        response: { 200: responses(ref(ApiKeyWithSecret), { description: 'The key with its new secret.' }) },
      },
    },
    ({ caller, params: { id }, body }) => keys.rotate(caller, { id, overlapSeconds: overlapOf(body) }),
  )

  app.delete(
    '/:id',
    {
      config: { operation: keyOperations.revoke, errors: ['key_not_found', 'last_admin_key'] },
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description:
          'Revokes the key and ends its sessions, at once and on every instance. The last unbound key with `admin` can’t be revoked (409 `last_admin_key`): create another one first.',
        params: IdPath('key'),
        response: { 204: emptyResponse('The key is revoked.') },
      },
    },
    async (request, reply) => {
      await keys.revoke(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
