import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { keepingMistakes, read } from './json-body.ts'

/** Room for the largest event. */
export const EVENT_BYTES = 2 * 1024 * 1024

/**
 * For a scope whose routes take events: their bodies come as bytes, whatever type they claim to be, and nothing is
 * checked, coerced or filled in on the way. What is in them is read by the service.
 */
export function takeEvents(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
    keepingMistakes(request, () => read(request, payload)),
  )
  scope.setValidatorCompiler(() => () => true)
}

/** The bytes of an event; none when there was no body. */
export const eventOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))
