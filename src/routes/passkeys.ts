import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { InvitePasskey } from '../schemas/invite.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import {
  NewPasskey,
  Passkey,
  PasskeyCreationOptions,
  PasskeyPage,
  PasskeyRequestOptions,
} from '../schemas/passkey.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import type { Begun } from '../services/people/passkey-challenges.ts'
import { passkeyOperations } from '../services/people/passkeys.ts'
import { cookieOptions } from './session-cookie.ts'

const tags = ['Access']

interface CookieOptions {
  /** Whether the public URL is https, whatever the protocol of the last hop. */
  isPublicHttps: boolean
}

interface ChallengeOptions extends CookieOptions, Pick<Services, 'passkeySignIn' | 'acceptance'> {
  guards: preHandlerAsyncHookHandler[]
}

/** Ties a challenge to the browser that began it. */
export const PASSKEY_COOKIE = 'inlet_passkey'

/** As long as a challenge is valid. */
const COOKIE_SECONDS = 600

/** Each text has at most 255 characters, of up to 12 bytes each in JSON. */
const MAX_BODY_BYTES = 8 * 1024

/** The options are for the script of the page, the cookie for the request that follows. */
const TIED = 'Sets a cookie that ties the challenge to this browser. It can be used once, within ten minutes.'

/** The address that the sender's page has, or claims to have. */
export const originOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`

/** Begins what people do with a passkey before they are signed in. */
export const passkeyChallengeRoutes: FastifyPluginAsyncTypebox<ChallengeOptions> = async (
  app,
  { passkeySignIn, acceptance, guards, isPublicHttps },
) => {
  const send = senderOf({ isPublicHttps })
  const route = { bodyLimit: MAX_BODY_BYTES, preHandler: [...guards, refuseIdempotencyKey] }

  app.post(
    '/sessions/passkey-challenge',
    {
      ...route,
      config: {
        errors: ['idempotency_not_supported', 'origin_not_allowed', 'public_url_missing', 'rate_limited'],
      },
      schema: {
        tags,
        operationId: 'beginPasskeySignIn',
        summary: 'Begin to sign in with a passkey',
        description: `Returns what the browser asks a passkey to sign. ${TIED}`,
        response: {
          200: responses(ref(PasskeyRequestOptions), { description: 'Options for the browser.' }),
        },
      },
    },
    async (request, reply) => {
      const begun = await passkeySignIn.begin(originOf(request))
      return send(begun, { request, reply, path: '/api/sessions' })
    },
  )

  app.post(
    '/invites/passkey-challenge',
    {
      ...route,
      config: {
        errors: [
          'idempotency_not_supported',
          'origin_not_allowed',
          'invite_invalid',
          'username_taken',
          'public_url_missing',
          'rate_limited',
        ],
      },
      schema: {
        tags,
        operationId: 'beginInvitePasskey',
        summary: 'Begin to accept an invite with a passkey',
        description: `Returns options to create a passkey that accepts an invite. ${TIED}`,
        body: ref(InvitePasskey),
        response: {
          200: responses(ref(PasskeyCreationOptions), { description: 'Options for the browser.' }),
        },
      },
    },
    async (request, reply) => {
      const begun = await acceptance.beginPasskey(request.body, originOf(request))
      return send(begun, { request, reply, path: '/api/invites' })
    },
  )
}

/** Lists, adds and removes the passkeys of the person who is signed in. */
export const passkeysRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'passkeys'> & CookieOptions> = async (
  app,
  { passkeys, isPublicHttps },
) => {
  const send = senderOf({ isPublicHttps })

  app.get(
    '',
    {
      config: { operation: passkeyOperations.list, errors: ['person_required', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listPasskeys',
        summary: 'List your passkeys',
        description: 'Returns a page of your passkeys, oldest first. Needs a session of a person.',
        querystring: PageQuery,
        response: { 200: responses(PasskeyPage, { description: 'A page of passkeys.' }) },
      },
    },
    (request) => passkeys.list(request.caller, request.query),
  )

  app.post(
    '/challenge',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: passkeyOperations.begin,
        errors: [
          'idempotency_not_supported',
          'person_required',
          'sign_in_again',
          'user_not_found',
          'public_url_missing',
        ],
      },
      schema: {
        tags,
        operationId: 'beginPasskey',
        summary: 'Begin to add a passkey',
        description: `Returns options to create a passkey. ${TIED} ${RECENTLY}`,
        response: {
          200: responses(ref(PasskeyCreationOptions), { description: 'Options for the browser.' }),
        },
      },
    },
    async (request, reply) => {
      const begun = await passkeys.begin(request.caller, originOf(request))
      return send(begun, { request, reply, path: '/api/me/passkeys' })
    },
  )

  app.post(
    '',
    {
      bodyLimit: 2 * MAX_BODY_BYTES,
      preHandler: refuseIdempotencyKey,
      config: {
        operation: passkeyOperations.add,
        errors: [
          'idempotency_not_supported',
          'person_required',
          'sign_in_again',
          'user_not_found',
          'passkey_taken',
          'too_many_passkeys',
        ],
      },
      schema: {
        tags,
        operationId: 'addPasskey',
        summary: 'Add a passkey',
        description: `Adds a passkey that was created with the options of \`POST /api/me/passkeys/challenge\`. A person can have 20. ${RECENTLY}`,
        body: ref(NewPasskey),
        response: { 201: responses(ref(Passkey), { description: 'The passkey.' }) },
      },
    },
    async (request, reply) => {
      const token = request.cookies[PASSKEY_COOKIE]
      return reply.status(201).send(await passkeys.add(request.caller, { ...request.body, token }))
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: passkeyOperations.remove,
        errors: ['person_required', 'sign_in_again', 'user_not_found', 'passkey_not_found', 'last_way_in'],
      },
      schema: {
        tags,
        operationId: 'removePasskey',
        summary: 'Remove a passkey',
        description: `Removes one of your passkeys, except the last way to sign in (409 \`last_way_in\`). ${RECENTLY}`,
        params: IdPath('passkey'),
        response: { 204: emptyResponse('The passkey is removed.') },
      },
    },
    async (request, reply) => {
      await passkeys.remove(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}

const RECENTLY = 'Needs a session of a person who signed in less than ten minutes ago.'

interface Sent {
  request: FastifyRequest
  reply: FastifyReply
  /** Of the requests that the cookie is sent with. */
  path: string
}

/** Returns a function that sends options with the cookie of their challenge. */
function senderOf(options: CookieOptions) {
  const cookieFor = cookieOptions(options)
  return function send<Options>({ options, token }: Begun<Options>, { request, reply, path }: Sent) {
    reply.setCookie(PASSKEY_COOKIE, token, { ...cookieFor(request), path, maxAge: COOKIE_SECONDS })
    return reply.status(200).send(options)
  }
}
