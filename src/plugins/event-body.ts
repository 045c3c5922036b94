import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type PushReading, readPush } from '../domain/codehost/delivery.ts'
import { invalidJson } from '../errors/index.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import { keepingError, readBody, refuseTooMuch } from './json-body.ts'

/** Ten times as many as feedback has; reading them takes up to 50 ms. */
const FEEDBACK_VALUES = 10_000

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

/**
 * The bytes of feedback, as they were sent.
 * @throws validation_failed
 */
export function feedbackBytesIn({ body }: FastifyRequest): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  refuseTooMuch(bytes, { maxValues: FEEDBACK_VALUES })
  return bytes
}

/**
 * Reads a verified delivery of the code host.
 * @throws validation_failed, invalid_json
 */
export function pushIn(request: FastifyRequest): { reading: PushReading; payload: Buffer } {
  const payload = payloadIn(request)
  refuseTooMuch(payload)
  const parsing = readPush(payload)
  if (!parsing.isJson) throw invalidJson(parsing.problem)
  return { reading: parsing.reading, payload }
}

/**
 * The JSON of a verified delivery of a source, in UTF-8.
 * @throws validation_failed
 */
export function sourceBytesIn(request: FastifyRequest, mapping: 'template' | 'feedback'): Buffer {
  const charset = /charset="?([\w.:-]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  const bytes = inUtf8(payloadIn(request), charset)
  refuseTooMuch(bytes, mapping === 'feedback' ? { maxValues: FEEDBACK_VALUES } : {})
  return bytes
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
