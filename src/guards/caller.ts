import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { type Operation, requireAllowed } from '../domain/operation.ts'
import { missingCredentials, originNotAllowed } from '../errors/index.ts'
import type { AccessService, Caller } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guards; null before them, and on routes without one. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** The scope that the caller needs; declared beside the service method that the route calls. */
    operation?: Operation
  }
}

/** The cookie of the dashboard. */
export const SESSION_COOKIE = 'inlet_session'

interface CallerGuardDeps {
  access: Pick<AccessService, 'callerByKey' | 'callerBySession'>
  failures: FailureLimit
  isOwnOrigin(request: FastifyRequest): boolean
}

/** preHandler: authenticates the caller by an API key or a session. */
export function requireCaller({ access, failures, isOwnOrigin }: CallerGuardDeps) {
  return async function requireCaller(request: FastifyRequest) {
    const token = request.cookies[SESSION_COOKIE]
    const key = apiKeyIn(request.headers, { hasSession: token !== undefined && token !== '' })
    if (key !== undefined) {
      request.caller = await failures.watch(request.ip, () => access.callerByKey(key))
    } else if (token) {
      request.caller = await failures.watch(request.ip, () => access.callerBySession(token))
      // Another site can make a browser send the cookie, but not with our Origin.
      if (!['GET', 'HEAD'].includes(request.method) && !isOwnOrigin(request)) throw originNotAllowed()
    } else {
      throw missingCredentials()
    }
  }
}

/**
 * The API key of a request: as X-API-Key, or as a Bearer token, as clients send it that set no other header. Beside a
 * session, a Bearer token is a proxy's own.
 */
export function apiKeyIn(
  { 'x-api-key': given, authorization = '' }: IncomingHttpHeaders,
  { hasSession }: { hasSession: boolean },
): string | undefined {
  if (typeof given === 'string' && given !== '') return given
  return hasSession ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/** Returns whether a request comes from a page of this service: its Origin is the public URL or the request's host. */
export function ownOrigin(publicUrl: string | undefined) {
  return (request: FastifyRequest): boolean => {
    const origin = URL.parse(request.headers.origin ?? '')
    if (!origin) return false
    return origin.host === request.host || origin.origin === (publicUrl && new URL(publicUrl).origin)
  }
}

/** preHandler of routes that sign in: browsers send their Origin, and another site must not sign users in. */
export function requireOwnOrigin(isOwnOrigin: (request: FastifyRequest) => boolean) {
  return async function requireOwnOrigin(request: FastifyRequest) {
    if (request.headers.origin !== undefined && !isOwnOrigin(request)) throw originNotAllowed()
  }
}

/** preHandler, after `requireCaller`: checks the caller against the route's operation. */
export async function requireScope({ caller, routeOptions: { config, url } }: FastifyRequest) {
  if (!config.operation) throw new Error(`The route ${url} has no operation.`)
  requireAllowed(caller, config.operation)
}

/** Cast: handlers behind a guard always have a caller, and `doors.test.ts` checks that no other route is public. */
export const noCallerYet = () => null as unknown as Caller
