import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type DeliveryReading, readDelivery } from '../domain/feedback/reading.ts'
import { keepingError, readBody } from './json-body.ts'

/** The maximum size of an event. */
export const EVENT_BYTES = 2 * 1024 * 1024
/** Larger events are parsed in the side thread. */
const SMALL_BYTES = 32 * 1024

/**
 * For routes that receive feedback events: bodies are kept as bytes, whatever their content type, and are not
 * validated or coerced. The service parses them.
 */
export const eventBody = fp(
  async function eventBody(scope: FastifyInstance) {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, () => readBody({ request, payload })),
    )
    scope.setValidatorCompiler(() => () => true)
  },
  { name: 'event-body', dependencies: ['json-body'] },
)

/** Parses the delivery of a request, without blocking the event loop. */
export async function deliveryIn({ body, server }: FastifyRequest): Promise<DeliveryIn> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const reading =
    bytes.length <= SMALL_BYTES
      ? readDelivery(bytes)
      : await server.worker.run('readDelivery', { input: bytes })
  return { reading, bytes: bytes.length }
}

interface DeliveryIn {
  reading: DeliveryReading
  bytes: number
}
