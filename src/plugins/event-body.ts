import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type DeliveryReading, readDelivery } from '../domain/feedback/reading.ts'
import { keepingError, read } from './json-body.ts'

/** Room for the largest event. */
export const EVENT_BYTES = 2 * 1024 * 1024
/** Larger ones are read beside the event loop. */
const SMALL_BYTES = 32 * 1024

/**
 * For a scope whose routes take events: their bodies come as bytes, whatever type they claim to be, and nothing is
 * checked, coerced or filled in on the way. What is in them is read by the service.
 */
export function takeEvents(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
    keepingError(request, () => read(request, payload)),
  )
  scope.setValidatorCompiler(() => () => true)
}

/** What a request delivers, read where it holds up nobody else. */
export async function deliveryIn({ body, server }: FastifyRequest): Promise<DeliveryIn> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const reading =
    bytes.length <= SMALL_BYTES ? readDelivery(bytes) : await server.worker.run('readDelivery', bytes)
  return { reading, bytes: bytes.length }
}

interface DeliveryIn {
  reading: DeliveryReading
  bytes: number
}
