import type { FastifyRequest } from 'fastify'
import { idempotencyNotSupported } from '../errors/index.ts'

/** preHandler of routes whose response contains a secret: secrets are not stored, so they cannot be replayed. */
export async function refuseIdempotencyKey(request: FastifyRequest) {
  if (request.headers['idempotency-key'] !== undefined) throw idempotencyNotSupported()
}
