import type { FastifyRequest } from 'fastify'
import { type Operation, requireAllowed } from '../domain/operation.ts'
import { missingCredentials, originNotAllowed } from '../errors/index.ts'
import type { AccessService, Caller } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls. Set by the guards: behind one it is there, before and outside it is null. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** What the caller needs; declared beside the service method that the route calls. */
    operation?: Operation
  }
}

/** The dashboard's cookie. */
export const SESSION_COOKIE = 'inlet_session'

interface CallerGuardDeps {
  access: Pick<AccessService, 'callerByKey' | 'callerBySession'>
  failures: FailureLimit
  isOwnOrigin(request: FastifyRequest): boolean
}

/** preHandler: lets in who has a valid API key or an open session. */
export function requireCaller({ access, failures, isOwnOrigin }: CallerGuardDeps) {
  return async function requireCaller(request: FastifyRequest) {
    const key = request.headers['x-api-key']
    const token = request.cookies[SESSION_COOKIE]
    if (typeof key === 'string' && key !== '') {
      request.caller = await failures.watch(request.ip, () => access.callerByKey(key))
    } else if (token) {
      request.caller = await failures.watch(request.ip, () => access.callerBySession(token))
      // Another site can make a browser send the cookie, but not the Origin of ours.
      if (!['GET', 'HEAD'].includes(request.method) && !isOwnOrigin(request)) throw originNotAllowed()
    } else {
      throw missingCredentials()
    }
  }
}

/** Whether a request comes from a page of this service: its Origin is the public address or the request's own host. */
export function ownOrigin(publicUrl: string | undefined) {
  return (request: FastifyRequest): boolean => {
    const origin = URL.parse(request.headers.origin ?? '')
    if (!origin) return false
    return origin.host === request.host || origin.origin === (publicUrl && new URL(publicUrl).origin)
  }
}

/** preHandler, after `requireCaller`: checks the caller against the route's operation. */
export async function requireScope({ caller, routeOptions: { config, url } }: FastifyRequest) {
  if (!config.operation) throw new Error(`The route ${url} has no operation.`)
  requireAllowed(caller, config.operation)
}

/** Typed as present because every handler behind a guard may rely on it; `doors.test.ts` holds that none is outside. */
export const noCallerYet = () => null as unknown as Caller
