import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import {
  DeletedIdentityProvider,
  IdentityProvider,
  IdentityProviderChange,
  IdentityProviderList,
  IdentityProviderPath,
  IdentityProviderTest,
  NewIdentityProvider,
} from '../schemas/identity-provider.ts'
import { ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { identityProviderOperations } from '../services/people/identity-providers.ts'

const tags = ['People']

/** Lists, adds, changes, tests and deletes identity providers. */
export const identityProvidersRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'identityProviders'>> = async (
  app,
  { identityProviders },
) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: identityProviderOperations.create,
        errors: [
          'idempotency_not_supported',
          'encryption_key_missing',
          'identity_provider_exists',
          'too_many_identity_providers',
          'project_not_found',
          'project_archived',
        ],
      },
      schema: {
        tags,
        operationId: 'createIdentityProvider',
        summary: 'Add an identity provider',
        description:
          'Adds an OpenID Connect provider that people can sign in with. At most 5 can exist, each with its own issuer. The provider is not asked: test it afterwards. Needs an owner, or an admin key that doesn’t expire.',
        body: ref(NewIdentityProvider),
        response: {
          201: responses(ref(IdentityProvider), {
            description: 'The identity provider.',
            headers: { location: Location },
          }),
        },
      },
    },
    async (request, reply) => {
      const provider = await identityProviders.create(request.caller, request.body)
      return reply.status(201).header('location', `/api/identity-providers/${provider.id}`).send(provider)
    },
  )

  app.get(
    '',
    {
      config: { operation: identityProviderOperations.list },
      schema: {
        tags,
        operationId: 'listIdentityProviders',
        summary: 'List identity providers',
        description: 'Returns all identity providers without their secrets.',
        response: { 200: responses(IdentityProviderList, { description: 'All identity providers.' }) },
      },
    },
    (request) => identityProviders.list(request.caller),
  )

  app.get(
    '/:id',
    {
      config: { operation: identityProviderOperations.get, errors: ['identity_provider_not_found'] },
      schema: {
        tags,
        operationId: 'getIdentityProvider',
        summary: 'Retrieve an identity provider',
        description: 'Returns an identity provider without its secret.',
        params: IdentityProviderPath,
        response: { 200: responses(ref(IdentityProvider), { description: 'The identity provider.' }) },
      },
    },
    (request) => identityProviders.get(request.caller, request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: identityProviderOperations.update,
        errors: [
          'identity_provider_not_found',
          'identity_provider_read_only',
          'encryption_key_missing',
          'project_not_found',
          'project_archived',
        ],
      },
      schema: {
        tags,
        operationId: 'updateIdentityProvider',
        summary: 'Update an identity provider',
        description:
          'Updates the given fields of an identity provider. The issuer can’t be changed: another one has other people. Rules count from the next sign-in on. The provider of the environment can’t be changed here (409 `identity_provider_read_only`). Needs an owner, or an admin key that doesn’t expire.',
        params: IdentityProviderPath,
        body: ref(IdentityProviderChange),
        response: { 200: responses(ref(IdentityProvider), { description: 'The identity provider.' }) },
      },
    },
    (request) => identityProviders.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: identityProviderOperations.delete,
        errors: ['identity_provider_not_found', 'identity_provider_read_only', 'identity_provider_in_use'],
      },
      schema: {
        tags,
        operationId: 'deleteIdentityProvider',
        summary: 'Delete an identity provider',
        description:
          'Deletes an identity provider with the links of people to it. If some people have no other way to sign in, the response is 409 `identity_provider_in_use` and says how many, unless `confirm` is true. Their sessions go on. Needs an owner, or an admin key that doesn’t expire.',
        params: IdentityProviderPath,
        querystring: DeletedIdentityProvider,
        response: { 204: emptyResponse('The identity provider is deleted.') },
      },
    },
    async (request, reply) => {
      const { confirm: isConfirmed = false } = request.query
      await identityProviders.delete(request.caller, { id: request.params.id, isConfirmed })
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/test',
    {
      config: { operation: identityProviderOperations.test, errors: ['identity_provider_not_found'] },
      schema: {
        tags,
        operationId: 'testIdentityProvider',
        summary: 'Test an identity provider',
        description:
          'Reads the configuration and the keys of an identity provider, and returns each step with what was found. It can’t check the client ID and the secret: sign in to check these. Needs an owner, or an admin key that doesn’t expire.',
        params: IdentityProviderPath,
        response: { 200: responses(ref(IdentityProviderTest), { description: 'The steps.' }) },
      },
    },
    (request) => identityProviders.test(request.caller, request.params.id),
  )
}
