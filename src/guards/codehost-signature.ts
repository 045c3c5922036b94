import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidSignature, missingSignature } from '../errors/index.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import type { FailureLimit } from '../services/failure-limit.ts'
import type { PushService, PushTarget } from '../services/push/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The connection that a delivery is for, once its signature header is known to be there. */
    pushTarget: PushTarget | null
  }
}

interface SignatureGuardDeps {
  push: Pick<PushService, 'findTarget' | 'isSigned'>
  failures: FailureLimit
  buffer: RetryBuffer
}

/** onRequest: what the headers decide, before a body of up to 25 MiB is read. */
export function requireSignature({ push, failures, buffer }: SignatureGuardDeps) {
  return async function requireSignature(request: FastifyRequest, reply: FastifyReply) {
    const signature = signatureOf(request)
    if (signature === undefined) throw missingSignature()
    const { connectionId } = request.params as { connectionId: string }
    await failures.watch(request.ip, async () => {
      if (!/^sha256=[0-9a-f]{64}$/.test(signature)) throw invalidSignature()
      const target = await buffer(reply.elapsedTime, () => push.findTarget(connectionId))
      if (!target) throw invalidSignature()
      request.pushTarget = target
    })
  }
}

/** preHandler: compares the signature with the body as it was received, before it is parsed. */
export function verifySignature({ push, failures }: Omit<SignatureGuardDeps, 'buffer'>) {
  return async function verifySignature(request: FastifyRequest) {
    const { body, bodyError, pushTarget, ip } = request
    // Thrown before the limit of deliveries, which a stranger must not use up.
    if (bodyError) throw bodyError
    await failures.watch(ip, async () => {
      const signature = signatureOf(request) ?? ''
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      if (!pushTarget || !(await push.isSigned(pushTarget, { body: bytes, signature })))
        throw invalidSignature()
    })
  }
}

function signatureOf({ headers }: FastifyRequest): string | undefined {
  const signature = headers['x-hub-signature-256']
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}
