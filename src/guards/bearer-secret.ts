import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidWebhookSecret, missingWebhookSecret } from '../errors/index.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import type { AccessService } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a receiver of deliveries verifies its callers, who have no API key. */
    receiver?: 'webhookSecret' | 'codehostSignature' | 'sourceSecret'
  }
}

interface SecretGuardDeps {
  access: Pick<AccessService, 'isWebhookSecret'>
  failures: FailureLimit
  buffer: RetryBuffer
  /** From the environment: valid in addition to those in the database. */
  webhookSecret: string | undefined
}

/** Requires a valid webhook secret. Runs in onRequest, before the body of up to 1 MiB is read. */
export function requireWebhookSecret({ access, failures, buffer, webhookSecret }: SecretGuardDeps) {
  const isFromEnvironment = equalTo(webhookSecret)

  return async function requireWebhookSecret(request: FastifyRequest, reply: FastifyReply) {
    const secret = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    if (secret === undefined) throw missingWebhookSecret()
    await failures.watch(request.ip, async () => {
      if (isFromEnvironment(secret)) return
      // Retried while the database is unavailable, so that the delivery is not lost.
      if (!(await buffer(reply.elapsedTime, () => access.isWebhookSecret(secret))))
        throw invalidWebhookSecret()
    })
  }
}

/** Compares hashes in constant time, whatever the length of the texts and wherever they differ. */
function equalTo(expected: string | undefined): (given: string) => boolean {
  if (expected === undefined) return () => false
  const expectedHash = hashOf(expected)
  return (given) => timingSafeEqual(hashOf(given), expectedHash)
}

const hashOf = (text: string) => hash('sha256', text, 'buffer')
