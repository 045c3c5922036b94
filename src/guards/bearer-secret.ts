import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidWebhookSecret, missingWebhookSecret } from '../errors/index.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import type { AccessService } from '../services/access.ts'
import type { FailureLimit } from '../services/failure-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It takes deliveries: whoever has a webhook secret may, and nobody else. */
    isReceiver?: boolean
  }
}

interface SecretGuardDeps {
  access: Pick<AccessService, 'isWebhookSecret'>
  failures: FailureLimit
  buffer: RetryBuffer
  /** From the environment: valid beside those in the database. */
  webhookSecret: string | undefined
}

/** onRequest, so that nobody else makes us hold 2 MiB: lets in who has a live webhook secret. */
export function requireWebhookSecret({ access, failures, buffer, webhookSecret }: SecretGuardDeps) {
  const isFromEnvironment = equalTo(webhookSecret)

  return async function requireWebhookSecret(request: FastifyRequest, reply: FastifyReply) {
    const secret = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    if (secret === undefined) throw missingWebhookSecret()
    await failures.watch(request.ip, async () => {
      if (isFromEnvironment(secret)) return
      // A delivery is not lost because the database was away when its secret was looked at.
      if (!(await buffer(reply.elapsedTime, () => access.isWebhookSecret(secret))))
        throw invalidWebhookSecret()
    })
  }
}

/** Compares hashes, in a time that tells nothing of where two texts differ or how long they are. */
function equalTo(expected: string | undefined): (given: string) => boolean {
  if (expected === undefined) return () => false
  const expectedHash = hashOf(expected)
  return (given) => timingSafeEqual(hashOf(given), expectedHash)
}

const hashOf = (text: string) => hash('sha256', text, 'buffer')
