import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { validationFailed } from '../errors/index.ts'
import { SESSION_COOKIE } from '../guards/caller.ts'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { InviteAcceptance } from '../schemas/invite.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import type { PasskeyAssertion } from '../schemas/passkey.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import { NewSession, Session, SessionPage, SignInWays } from '../schemas/session.ts'
import type { FailureLimit } from '../services/failure-limit.ts'
import type { Services } from '../services/index.ts'
import { signInFailure } from '../services/metrics/index.ts'
import { type OpenedSession, sessionOperations } from '../services/sessions.ts'
import { originOf, PASSKEY_COOKIE } from './passkeys.ts'
import { BROWSER_COOKIE, cookieOptions, setBrowserCookie, setSessionCookie } from './session-cookie.ts'

const tags = ['Access']

interface SignInOptions
  extends Pick<
    Services,
    'sessions' | 'access' | 'passwords' | 'passkeySignIn' | 'acceptance' | 'listSignInWays' | 'metrics'
  > {
  limitCaller(request: FastifyRequest, reply: FastifyReply): Promise<void>
  failures: FailureLimit
  requireOwnOrigin(request: FastifyRequest): Promise<void>
  /** Whether the public URL is https, whatever the protocol of the last hop. */
  isPublicHttps: boolean
}

const OPENED = {
  201: responses(ref(Session), { description: 'The session. The cookie is in `Set-Cookie`.' }),
}

/** Signs in with what the body contains: the API routes without credentials in headers. */
export const signInRoutes: FastifyPluginAsyncTypebox<SignInOptions> = async (app, options) => {
  const { sessions, access, passwords, passkeySignIn, acceptance, failures, metrics } = options
  const { limitCaller, requireOwnOrigin } = options
  const cookieFor = cookieOptions(options)

  app.get(
    '/sign-in',
    {
      schema: {
        tags,
        operationId: 'getSignInWays',
        summary: 'Retrieve the ways to sign in',
        description: 'Returns the ways to sign in to the dashboard. Needs no credentials.',
        response: { 200: responses(ref(SignInWays), { description: 'The ways to sign in.' }) },
      },
    },
    (request) => options.listSignInWays(originOf(request)),
  )

  app.post(
    '/sessions',
    {
      // Anyone can send it: each text has at most 255 characters, of up to 12 bytes each in JSON.
      bodyLimit: MAX_BODY_BYTES,
      preHandler: [requireOwnOrigin, refuseIdempotencyKey],
      config: {
        errors: [
          'idempotency_not_supported',
          'invalid_credentials',
          'expired_credentials',
          'insufficient_scope',
          'personal_key',
          'origin_not_allowed',
          'rate_limited',
        ],
      },
      schema: {
        tags,
        operationId: 'createSession',
        summary: 'Sign in',
        description:
          'Signs in to the dashboard, with a username and password, a passkey, or an API key, and sets an HttpOnly cookie. The session of a person ends after 7 days without a request, and after 30 days at the latest. The session of a key has the scopes of the key, and ends with this secret of the key, or after 12 hours without a request. After ten wrong passwords for a username in a minute, further ones are refused until the minute is over (429), except from a browser that has signed in with this password before. A passkey signs the challenge of `POST /api/sessions/passkey-challenge`, whose cookie must be sent, too.',
        body: ref(NewSession),
        response: OPENED,
      },
    },
    async (request, reply) => {
      const given = credentialsIn(request.body)
      try {
        const { browser, ...opened } = await open(given, { request, reply })
        metrics.signedIn(given.way, 'succeeded')
        return send(opened, { request, reply, browser })
      } catch (error) {
        metrics.signedIn(given.way, signInFailure(app.asAppError(error)))
        throw error
      }
    },
  )

  app.post(
    '/invites/accept',
    {
      bodyLimit: MAX_BODY_BYTES,
      preHandler: [requireOwnOrigin, refuseIdempotencyKey],
      config: {
        errors: [
          'idempotency_not_supported',
          'origin_not_allowed',
          'invite_invalid',
          'username_taken',
          'passkey_taken',
          'too_many_passkeys',
          'rate_limited',
        ],
      },
      schema: {
        tags,
        operationId: 'acceptInvite',
        summary: 'Accept an invite',
        description:
          'Creates the person who was invited, or sets a new password, and signs in. An invite can be accepted once. A passkey instead of a password is created with the options of `POST /api/invites/passkey-challenge`, whose cookie must be sent, too; it replaces the password that was lost.',
        body: ref(InviteAcceptance),
        response: OPENED,
      },
    },
    async (request, reply) => {
      const { 'user-agent': userAgent } = request.headers
      const token = request.cookies[PASSKEY_COOKIE]
      const { browser, ...opened } = await acceptance.accept(request.body, { userAgent, token })
      return send(opened, { request, reply, browser })
    },
  )

  /** Each sign-in counts towards the rate limit of the person or key. */
  async function open(
    given: Credentials,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<OpenedSession & { browser?: string }> {
    const { 'user-agent': userAgent } = request.headers
    if (given.way === 'password') {
      const attempt = { ...given, address: request.ip, browser: request.cookies[BROWSER_COOKIE] }
      const { user, passwordHash, browser } = await passwords.check(attempt)
      request.caller = access.callerByUser(user)
      await limitCaller(request, reply)
      const { session, token } = await sessions.openOfUser({ id: user.id, passwordHash, userAgent })
      return { session, token, browser }
    }
    if (given.way === 'passkey') {
      const { assertion } = given
      const token = request.cookies[PASSKEY_COOKIE]
      const used = await failures.watch(request.ip, () => passkeySignIn.check({ assertion, token }))
      request.caller = access.callerByUser(used.user)
      await limitCaller(request, reply)
      return sessions.openByPasskey(used, userAgent)
    }
    const { key } = given
    const caller = await failures.watch(request.ip, () => access.callerByKey(key))
    request.caller = caller
    await limitCaller(request, reply)
    return sessions.open(caller, userAgent)
  }

  function send(
    { session, token }: OpenedSession,
    {
      request,
      reply,
      browser,
    }: { request: FastifyRequest; reply: FastifyReply; browser?: string | undefined },
  ) {
    const cookie = cookieFor(request)
    setSessionCookie(reply, { token, options: cookie })
    if (browser !== undefined) setBrowserCookie(reply, { token: browser, options: cookie })
    return reply.status(201).send(session)
  }
}

const MAX_BODY_BYTES = 8 * 1024

type Credentials =
  | { way: 'key'; key: string }
  | { way: 'password'; username: string; password: string }
  | { way: 'passkey'; assertion: PasskeyAssertion }

/** @throws validation_failed unless it is one of a key, a passkey, and a username with a password */
function credentialsIn({ key, passkey, username, password }: NewSession): Credentials {
  const isPerson = username !== undefined || password !== undefined
  if (passkey !== undefined) {
    if (key !== undefined || isPerson) throw notTogether('/passkey', 'other credentials')
    return { way: 'passkey', assertion: passkey }
  }
  if (key !== undefined) {
    if (isPerson) throw notTogether('/key', 'username and password')
    return { way: 'key', key }
  }
  if (username !== undefined && password !== undefined) return { way: 'password', username, password }
  const path = isPerson ? `/${username === undefined ? 'username' : 'password'}` : '/key'
  const message = 'is required: send username and password, or passkey, or key'
  throw validationFailed([{ path, code: 'required', message }])
}

const notTogether = (path: string, others: string) =>
  validationFailed([{ path, code: 'not_allowed', message: `must not be set together with ${others}` }])

/** Lists and ends sessions. */
export const sessionsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'sessions'>> = async (
  app,
  { sessions },
) => {
  app.get(
    '',
    {
      config: { operation: sessionOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List sessions',
        description:
          'Returns a page of your open sessions, oldest first: those of the person, or of the key. With `admin`, includes the sessions of all keys that you can access and, if you can access all projects, of all people.',
        querystring: PageQuery,
        response: { 200: responses(SessionPage, { description: 'A page of sessions.' }) },
      },
    },
    (request) => sessions.list(request.caller, request.query),
  )

  app.delete(
    '/:id',
    {
      config: { operation: sessionOperations.end, errors: ['session_not_found'] },
      schema: {
        tags,
        operationId: 'endSession',
        summary: 'End a session',
        description: 'Ends one of your sessions. With `admin`, any session that you can access.',
        params: IdPath('session'),
        response: { 204: emptyResponse('The session has ended.') },
      },
    },
    async (request, reply) => {
      await sessions.end(request.caller, request.params.id)
      if (request.params.id.toLowerCase() === request.caller.id) clearCookie(reply)
      return reply.status(204).send(null)
    },
  )

  app.delete(
    '',
    {
      config: { operation: sessionOperations.endAll },
      schema: {
        tags,
        operationId: 'endAllSessions',
        summary: 'End all sessions',
        description: 'Ends all sessions that you can access, on all devices.',
        response: { 204: emptyResponse('The sessions have ended.') },
      },
    },
    async (request, reply) => {
      await sessions.endAll(request.caller)
      if (request.caller.channel === 'dashboard') clearCookie(reply)
      return reply.status(204).send(null)
    },
  )
}

const clearCookie = (reply: FastifyReply) => reply.clearCookie(SESSION_COOKIE, { path: '/' })
