import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type PushParsing, type PushReading, readPush } from '../domain/codehost/delivery.ts'
import { type DeliveryReading, readDelivery } from '../domain/feedback/reading.ts'
import { invalidJson } from '../errors/index.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import { keepingError, readBody } from './json-body.ts'

/** The maximum size of an event. */
export const EVENT_BYTES = 2 * 1024 * 1024
/** Larger events are parsed in the side thread. */
const SMALL_BYTES = 32 * 1024
/** Of the code host most deliveries have 10 to 50 KiB; this much takes about a millisecond. */
const SMALL_PUSH_BYTES = 256 * 1024

interface EventBodyOptions {
  /** What receives the body of a request; by default, what receives all bodies of the process. */
  bodyIntakeOf?: (request: FastifyRequest) => BodyIntake | undefined
}

/**
 * For routes that receive events of other systems: bodies are kept as bytes, whatever their content type, and are not
 * validated or coerced. The service parses them.
 */
export const eventBody = fp<EventBodyOptions>(
  async function eventBody(scope: FastifyInstance, { bodyIntakeOf }) {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, () => readBody({ request, payload, bodyIntake: bodyIntakeOf?.(request) })),
    )
    scope.setValidatorCompiler(() => () => true)
  },
  { name: 'event-body', dependencies: ['json-body'] },
)

/** Parses the delivery of a request, without blocking the event loop. */
export const deliveryIn = ({ body, server }: FastifyRequest): Promise<DeliveryIn> =>
  feedbackIn(Buffer.isBuffer(body) ? body : Buffer.alloc(0), server)

/** Parses a verified delivery of a source as the feedback receiver does. */
export const verifiedDeliveryIn = (request: FastifyRequest): Promise<DeliveryIn> =>
  feedbackIn(jsonBytesIn(request), request.server)

async function feedbackIn(bytes: Buffer, server: FastifyInstance): Promise<DeliveryIn> {
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

/**
 * Reads a verified delivery of the code host, without blocking the event loop.
 * @throws invalid_json
 */
export async function pushIn(request: FastifyRequest): Promise<{ reading: PushReading; payload: Buffer }> {
  const payload = payloadIn(request)
  const parsing: PushParsing =
    payload.length <= SMALL_PUSH_BYTES
      ? readPush(payload)
      : await request.server.worker.run('readPush', { input: payload })
  if (!parsing.isJson) throw invalidJson(parsing.problem)
  return { reading: parsing.reading, payload }
}

/** The JSON of a verified delivery, in UTF-8. */
export function jsonBytesIn(request: FastifyRequest): Buffer {
  const bytes = payloadIn(request)
  const charset = /charset="?([\w.:-]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  return inUtf8(bytes, charset)
}

/** A charset that is not known is read as UTF-8. */
function inUtf8(bytes: Buffer, charset: string): Buffer {
  if (/^utf-?8$/i.test(charset)) return bytes
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes))
  } catch {
    return bytes
  }
}

/** A form with JSON in `payload` is the code host's default content type. */
function payloadIn({ body, headers }: FastifyRequest): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return bytes
  return Buffer.from(new URLSearchParams(bytes.toString()).get('payload') ?? '')
}
