import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyNotSupported } from '../errors.ts'
import type { Services, UseCases } from '../services/index.ts'

export const IdempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Your own name for this request, 1 to 255 characters. Sent again within 24 hours with the same body, it is answered as before (`Idempotency-Replayed: true`) and done once.',
      examples: ['3f1c8a52-6a0e-4a43-9a6e-0f6f0a3c5b11'],
    }),
  ),
})

export interface CreatingAnswer<T> {
  status: number
  headers?: Record<string, string>
  body: T
}

/**
 * Answers a creating POST, once for each Idempotency-Key. Without the header the use cases run as they are; with it
 * they run in the transaction that keeps the answer.
 */
export function onceOf({ idempotency, useCasesIn, ...outside }: Services) {
  return async function once<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (useCases: UseCases) => Promise<CreatingAnswer<T>>,
  ): Promise<T> {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string') {
      const { status, headers = {}, body } = await work(outside)
      reply.status(status).headers(headers)
      return body
    }
    const identity = {
      callerId: request.caller.id,
      route: `${request.method} ${request.url.split('?')[0]}`,
      key,
      requestHash: createHash('sha256')
        .update(JSON.stringify([request.query, request.body]))
        .digest('hex'),
    }
    const answer = await idempotency.once(identity, async (repos) => {
      const { status, headers = {}, body } = await work(useCasesIn(repos))
      return {
        status,
        headers,
        body: String(reply.serializeInput(body as never, String(status), 'application/json')),
      }
    })
    if (answer.isReplay) reply.header('idempotency-replayed', 'true')
    reply.status(answer.status).headers(answer.headers).type('application/json; charset=utf-8')
    return alreadySerialized(reply, answer.body)
  }
}

/** preHandler of routes whose answer holds a secret: it is never kept, so it cannot be replayed. */
export async function refuseIdempotencyKey(request: FastifyRequest) {
  if (request.headers['idempotency-key'] !== undefined) throw idempotencyNotSupported()
}

/** The text is what the serializer made of a T; it goes out as it is. */
function alreadySerialized<T>(reply: FastifyReply, text: string): T {
  reply.serializer((payload) => payload as unknown as string)
  return text as unknown as T
}
