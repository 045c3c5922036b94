import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isAllowedHost, isAllowedOrigin, isLoopback } from '../domain/allowed-origin.ts'
import { foreignOrigin, missingCredentials } from '../errors/index.ts'
import type { AccessService } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

interface AssistantGuardDeps {
  access: Pick<AccessService, 'callerByKey'>
  failures: FailureLimit
}

/** preHandler: lets in who has a valid API key, as an assistant. Many clients can only send a Bearer. */
export function requireAssistant({ access, failures }: AssistantGuardDeps) {
  return async function requireAssistant(request: FastifyRequest) {
    const { authorization = '', 'x-api-key': given } = request.headers
    const key = given || /^bearer +(\S+) *$/i.exec(authorization)?.[1]
    if (typeof key !== 'string') throw missingCredentials()
    const caller = await failures.watch(request.ip, () => access.callerByKey(key))
    request.caller = { ...caller, type: 'assistant' }
  }
}

/** preHandler: keeps out pages of other sites, and requests that a foreign name led here. */
export function refuseForeignOrigins({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>) {
  const isHostKnown = publicUrl !== undefined || isLoopback(host) || host === '::1'
  return async function refuseForeignOrigins({ headers }: FastifyRequest) {
    if (headers.origin !== undefined && !isAllowedOrigin(headers.origin, publicUrl))
      throw foreignOrigin('Origin', headers.origin)
    if (isHostKnown && !isAllowedHost(headers.host ?? '', publicUrl))
      throw foreignOrigin('Host', headers.host ?? '')
  }
}
