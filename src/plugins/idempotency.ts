import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { joinPieces, jsonPieces } from '../lib/json-pieces.ts'
import type { ResponseParts } from '../services/idempotency.ts'
import type { Services, UseCases } from '../services/index.ts'

interface CreatedResponse<T> {
  status: number
  headers?: Record<string, string>
  body: T
  /** False if nothing was created or changed: such a response is not stored. */
  hasEffect?: boolean
  /** Its items are long: they are written one by one, to block nobody else. */
  isLong?: boolean
}

/** The part of the work that runs after the effect is committed. */
export interface Completion<T> {
  withinMs: number
  complete(response: CreatedResponse<T>): Promise<CreatedResponse<T>>
}

interface IdempotentRequest<T> {
  request: FastifyRequest
  reply: FastifyReply
  /** Removes what this caller may not see from a replayed response. */
  restrict?: ((body: T) => T) | undefined
  completion?: Completion<T>
}

type Work<T> = (useCases: UseCases) => Promise<CreatedResponse<T>>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Handles a creating POST once for each Idempotency-Key. With the header, the use cases run in the transaction
     * that stores the response.
     */
    idempotently<T>(request: IdempotentRequest<T>, work: Work<T>): Promise<T>
  }
}

type Needed = Pick<Services, 'idempotency' | 'useCasesIn'> & UseCases

export const idempotency = fp<{ services: Needed }>(
  async function idempotency(app: FastifyInstance, { services }) {
    app.decorate('idempotently', (exchange, work) =>
      typeof exchange.request.headers['idempotency-key'] === 'string'
        ? once(services, exchange, work)
        : respond(exchange, work(services)),
    )
  },
  { name: 'idempotency' },
)

async function respond<T>(
  { reply, completion }: IdempotentRequest<T>,
  work: Promise<CreatedResponse<T>>,
): Promise<T> {
  const made = await work
  const { status, headers = {}, body, isLong } = completion ? await completion.complete(made) : made
  reply.status(status).headers(headers)
  return isLong ? inPieces(reply, body) : body
}

async function once<T>(
  { idempotency, useCasesIn }: Needed,
  exchange: IdempotentRequest<T>,
  work: Work<T>,
): Promise<T> {
  const { request, reply, restrict, completion } = exchange
  const textOf = ({ status, headers = {}, body }: CreatedResponse<T>) => ({
    status,
    headers,
    body: String(reply.serializeInput(body as never, String(status), 'application/json')),
  })
  let made: CreatedResponse<T>
  const response = await idempotency.once(identityOf(request), {
    work: async (repos) => {
      made = await work(useCasesIn(repos))
      const stored = made.isLong ? inParts(made) : textOf(made)
      return { ...stored, hasEffect: made.hasEffect ?? true }
    },
    completion: completion && {
      withinMs: completion.withinMs,
      complete: async () => textOf(await completion.complete(made)),
    },
  })
  if (response.isReplay) reply.header('idempotency-replayed', 'true')
  reply.status(response.status).headers(response.headers).type('application/json; charset=utf-8')
  const { body } = response
  if (!response.isReplay || !restrict) return alreadySerialized(reply, body)
  return alreadySerialized(reply, JSON.stringify(restrict(JSON.parse(await textIn(body)))))
}

const identityOf = (request: FastifyRequest) => ({
  callerId: request.caller.id,
  route: `${request.method} ${request.url.split('?')[0]}`,
  key: String(request.headers['idempotency-key']),
  requestHash: createHash('sha256')
    .update(JSON.stringify([request.query, request.largeBody?.hash ?? request.body]))
    .digest('hex'),
})

/** In parts: to encode or to write a long text in one go would block the event loop. */
const inParts = <T>({ status, headers = {}, body }: CreatedResponse<T>) => ({
  status,
  headers,
  body: () => joinPieces(jsonPieces(body as object), PART_LENGTH),
})

const PART_LENGTH = 256 * 1024

/** The pieces make up a T; they go out as they are taken. */
function inPieces<T>(reply: FastifyReply, body: T): T {
  reply.type('application/json; charset=utf-8')
  return Readable.from(jsonPieces(body as object), { objectMode: false }) as unknown as T
}

/** The text is what the serializer made of a T; it is sent as it is. */
function alreadySerialized<T>(reply: FastifyReply, text: string | ResponseParts): T {
  if (typeof text !== 'string') return Readable.from(text(), { objectMode: false }) as unknown as T
  reply.serializer((payload) => payload as unknown as string)
  return text as unknown as T
}

async function textIn(body: string | ResponseParts): Promise<string> {
  if (typeof body === 'string') return body
  let text = ''
  for await (const part of body()) text += part
  return text
}
