import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { BegunSignIn, IdentityList, NewIdentity } from '../schemas/identity-provider.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { identityOperations } from '../services/people/identities.ts'
import { setAttemptCookie } from './auth-cookie.ts'
import { cookieOptions } from './session-cookie.ts'

const tags = ['Access']

interface IdentitiesOptions extends Pick<Services, 'identities'> {
  isPublicHttps: boolean
}

/** The identity providers that a person signs in with. */
export const identitiesRoutes: FastifyPluginAsyncTypebox<IdentitiesOptions> = async (app, options) => {
  const { identities } = options
  const cookieFor = cookieOptions(options)

  app.get(
    '',
    {
      config: { operation: identityOperations.list, errors: ['person_required'] },
      schema: {
        tags,
        operationId: 'listIdentities',
        summary: 'List your linked identity providers',
        description: 'Returns the identity providers that you can sign in with. Needs a session of a person.',
        response: { 200: responses(IdentityList, { description: 'The links.' }) },
      },
    },
    (request) => identities.list(request.caller),
  )

  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: identityOperations.link,
        errors: [
          'idempotency_not_supported',
          'person_required',
          'sign_in_again',
          'identity_provider_not_found',
          'identity_provider_unreachable',
          'public_url_missing',
        ],
      },
      schema: {
        tags,
        operationId: 'linkIdentity',
        summary: 'Link an identity provider',
        description:
          'Begins to link an identity provider to your account: open the returned page in the same browser, and sign in there. Needs a session of a person who signed in less than ten minutes ago. Sets a cookie that ties both steps together.',
        body: ref(NewIdentity),
        response: { 200: responses(ref(BegunSignIn), { description: 'Where to continue.' }) },
      },
    },
    async (request, reply) => {
      const { token, url } = await identities.link(request.caller, request.body.providerId)
      setAttemptCookie(reply, { token, options: cookieFor(request) })
      return { url }
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: identityOperations.unlink,
        errors: ['person_required', 'sign_in_again', 'identity_not_found', 'last_way_in'],
      },
      schema: {
        tags,
        operationId: 'unlinkIdentity',
        summary: 'Unlink an identity provider',
        description:
          'Removes a link: you can no longer sign in with it. The last way to sign in can’t be removed (409 `last_way_in`). Needs a session of a person who signed in less than ten minutes ago.',
        params: IdPath('link'),
        response: { 204: emptyResponse('The link is removed.') },
      },
    },
    async (request, reply) => {
      await identities.unlink(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
