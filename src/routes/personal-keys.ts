import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { ApiKeyPage, ApiKeyWithSecret, NewPersonalKey, Rotation } from '../schemas/key.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { personalKeyOperations } from '../services/people/personal-keys.ts'
import { overlapOf } from './keys.ts'

const tags = ['Access']

/** Creates, lists, rotates and revokes the keys of a person. */
export const personalKeysRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'personalKeys'>> = async (
  app,
  { personalKeys },
) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: personalKeyOperations.create,
        errors: [
          'idempotency_not_supported',
          'person_required',
          'sign_in_again',
          'user_not_found',
          'project_not_found',
          'project_archived',
          'too_many_keys',
        ],
      },
      schema: {
        tags,
        operationId: 'createPersonalKey',
        summary: 'Create a personal key',
        description:
          'Creates an API key for your assistants and scripts. The secret is only returned once. What is done with the key counts as done by you, and the key never allows more than your role and your projects do at that time. It can’t sign in to the dashboard. Needs a session of a person who signed in less than ten minutes ago.',
        body: ref(NewPersonalKey),
        response: { 201: responses(ref(ApiKeyWithSecret), { description: 'The key with its secret.' }) },
      },
    },
    async (request, reply) => {
      const made = await personalKeys.create(request.caller, request.body)
      return reply.status(201).send(made)
    },
  )

  app.get(
    '',
    {
      config: { operation: personalKeyOperations.list, errors: ['person_required', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listPersonalKeys',
        summary: 'List your personal keys',
        description:
          'Returns a page of your personal keys that aren’t revoked, oldest first. Secrets are never returned. Needs a session of a person.',
        querystring: PageQuery,
        response: { 200: responses(ApiKeyPage, { description: 'A page of personal keys.' }) },
      },
    },
    (request) => personalKeys.list(request.caller, request.query),
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: personalKeyOperations.rotate,
        errors: [
          'idempotency_not_supported',
          'person_required',
          'sign_in_again',
          'user_not_found',
          'key_not_found',
        ],
      },
      schema: {
        tags,
        operationId: 'rotatePersonalKey',
        summary: 'Rotate a personal key',
        description:
          'Creates a new secret for one of your personal keys. The previous secret keeps working for `overlapSeconds` (one day by default); older secrets stop working at once. Needs a session of a person who signed in less than ten minutes ago.',
        params: IdPath('key'),
        body: ref(Rotation),
        response: { 200: responses(ref(ApiKeyWithSecret), { description: 'The key with its new secret.' }) },
      },
    },
    ({ caller, params: { id }, body }) =>
      personalKeys.rotate(caller, { id, overlapSeconds: overlapOf(body) }),
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: personalKeyOperations.revoke,
        errors: ['person_required', 'sign_in_again', 'user_not_found', 'key_not_found'],
      },
      schema: {
        tags,
        operationId: 'revokePersonalKey',
        summary: 'Revoke a personal key',
        description:
          'Revokes one of your personal keys, at once and on every instance. Needs a session of a person who signed in less than ten minutes ago.',
        params: IdPath('key'),
        response: { 204: emptyResponse('The key is revoked.') },
      },
    },
    async (request, reply) => {
      await personalKeys.revoke(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
