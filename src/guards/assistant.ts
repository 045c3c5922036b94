import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isAllowedHost, isAllowedOrigin } from '../domain/allowed-origin.ts'
import { foreignOrigin, missingCredentials } from '../errors/index.ts'
import { isLoopback } from '../lib/loopback.ts'
import type { AccessService } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'
import { apiKeyIn } from './caller.ts'

interface AssistantGuardDeps {
  access: Pick<AccessService, 'callerByKey'>
  failures: FailureLimit
}

/** preHandler: authenticates an assistant by its API key. */
export function requireAssistant({ access, failures }: AssistantGuardDeps) {
  return async function requireAssistant(request: FastifyRequest) {
    const key = apiKeyIn(request.headers, { hasSession: false })
    if (key === undefined) throw missingCredentials()
    const caller = await failures.watch(request.ip, () => access.callerByKey(key))
    request.caller = { ...caller, channel: 'assistant' }
  }
}

/** preHandler: rejects requests from pages of other sites, and DNS rebinding by a foreign host name. */
export function refuseForeignOrigins({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>) {
  const isHostKnown = publicUrl !== undefined || isLoopback(host) || host === '::1'
  return async function refuseForeignOrigins({ headers }: FastifyRequest) {
    if (headers.origin !== undefined && !isAllowedOrigin(headers.origin, publicUrl))
      throw foreignOrigin('Origin', headers.origin)
    if (isHostKnown && !isAllowedHost(headers.host ?? '', publicUrl))
      throw foreignOrigin('Host', headers.host ?? '')
  }
}
