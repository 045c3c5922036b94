import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { Me } from '../schemas/caller.ts'
import { ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import { NameChange, PasswordChange, User } from '../schemas/user.ts'
import { accessOperations } from '../services/access.ts'
import type { Services } from '../services/index.ts'
import { accountOperations } from '../services/people/account.ts'
import { cookieOptions, setBrowserCookie } from './session-cookie.ts'

const tags = ['Access']

interface MeOptions extends Pick<Services, 'access' | 'account'> {
  /** Whether the public URL is https, whatever the protocol of the last hop. */
  isPublicHttps: boolean
}

/** The authenticated caller, and the account of a person. */
export const meRoutes: FastifyPluginAsyncTypebox<MeOptions> = async (
  app,
  { access, account, isPublicHttps },
) => {
  const cookieFor = cookieOptions({ isPublicHttps })

  app.get(
    '',
    {
      config: { operation: accessOperations.describe },
      schema: {
        tags,
        operationId: 'getMe',
        summary: 'Retrieve the current caller',
        description: 'Returns the person, or the key, of the request: name, scopes and projects.',
        response: { 200: responses(ref(Me), { description: 'The caller.' }) },
      },
    },
    async (request) => access.describe(request.caller),
  )

  app.patch(
    '',
    {
      config: { operation: accountOperations.update, errors: ['person_required', 'user_not_found'] },
      schema: {
        tags,
        operationId: 'updateMe',
        summary: 'Change your name',
        description: 'Changes your name or email address. Needs a session of a person.',
        body: ref(NameChange),
        response: { 200: responses(ref(User), { description: 'The person.' }) },
      },
    },
    (request) => account.update(request.caller, request.body),
  )

  app.put(
    '/password',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: accountOperations.setPassword,
        errors: ['idempotency_not_supported', 'person_required', 'sign_in_again', 'user_not_found'],
      },
      schema: {
        tags,
        operationId: 'setPassword',
        summary: 'Change your password',
        description:
          'Sets a new password, and ends all your other sessions. Sets a cookie, with which wrong passwords of other browsers don’t keep this one out. Needs a session of a person who signed in less than ten minutes ago.',
        body: ref(PasswordChange),
        response: { 204: emptyResponse('The password is changed.') },
      },
    },
    async (request, reply) => {
      const token = await account.setPassword(request.caller, request.body.password)
      setBrowserCookie(reply, { token, options: cookieFor(request) })
      return reply.status(204).send(null)
    },
  )
}
