import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { originNotAllowed } from '../errors/index.ts'
import { SESSION_COOKIE } from '../guards/caller.ts'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import { NewSession, Session, SessionPage } from '../schemas/session.ts'
import type { FailureLimit } from '../services/failure-limit.ts'
import type { Services } from '../services/index.ts'
import { sessionOperations } from '../services/sessions.ts'

const tags = ['Access']

interface SignInOptions extends Pick<Services, 'sessions' | 'access'> {
  limitCaller(request: FastifyRequest, reply: FastifyReply): Promise<void>
  failures: FailureLimit
  isOwnOrigin(request: FastifyRequest): boolean
  /** Whether the public URL is https, whatever the protocol of the last hop. */
  isPublicHttps: boolean
}

/** Signs in with a key in the body: the only API route without credentials in headers. */
export const signInRoutes: FastifyPluginAsyncTypebox<SignInOptions> = async (app, options) => {
  const { sessions, access, failures, limitCaller, isOwnOrigin, isPublicHttps } = options
  app.post(
    '',
    {
      // Anyone can send it: a key has at most 255 characters, of up to 6 bytes each in JSON.
      bodyLimit: 4 * 1024,
      preHandler: refuseIdempotencyKey,
      config: {
        errors: [
          'idempotency_not_supported',
          'invalid_credentials',
          'expired_credentials',
          'origin_not_allowed',
          'rate_limited',
        ],
      },
      schema: {
        tags,
        operationId: 'createSession',
        summary: 'Sign in',
        description:
          'Signs in to the dashboard with an API key. Sets an HttpOnly cookie for a session with the scopes of the key. The session ends with this secret of the key, or after 12 hours without a request.',
        body: ref(NewSession),
        response: {
          201: responses(ref(Session), {
            description: 'The session. The cookie is in `Set-Cookie`.',
          }),
        },
      },
    },
    async (request, reply) => {
      // Browsers send their Origin; another site must not sign users in.
      if (request.headers.origin !== undefined && !isOwnOrigin(request)) throw originNotAllowed()
      const caller = await failures.watch(request.ip, () => access.callerByKey(request.body.key))
      request.caller = caller
      // Counts towards the rate limit of the key.
      await limitCaller(request, reply)
      const { session, token } = await sessions.open(caller, request.headers['user-agent'])
      reply.setCookie(SESSION_COOKIE, token, {
        path: '/',
        httpOnly: true,
        sameSite: 'strict',
        secure: isPublicHttps || request.protocol === 'https',
        maxAge: COOKIE_SECONDS,
      })
      return reply.status(201).send(session)
    },
  )
}

/** Longer than any session: the service ends a session by its last use. */
const COOKIE_SECONDS = 30 * 86_400

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
          'Returns a page of the open sessions of your key, oldest first. With `admin`, includes the sessions of all keys that you can access.',
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
        description: 'Ends a session of your key. With `admin`, any session that you can access.',
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
