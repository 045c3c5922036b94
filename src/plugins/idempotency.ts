import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { jsonPieces } from '../lib/json-pieces.ts'
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
  const response = await idempotency.once(
    identityOf(request),
    async (repos) => {
      made = await work(useCasesIn(repos))
      const stored = made.isLong ? await longTextOf(made) : textOf(made)
      return { ...stored, hasEffect: made.hasEffect ?? true }
    },
    completion && {
      withinMs: completion.withinMs,
      complete: async () => textOf(await completion.complete(made)),
    },
  )
  if (response.isReplay) reply.header('idempotency-replayed', 'true')
  reply.status(response.status).headers(response.headers).type('application/json; charset=utf-8')
  const { body } = response
  if (!response.isReplay || !restrict) return alreadySerialized(reply, body)
  return alreadySerialized(reply, JSON.stringify(restrict(JSON.parse(textIn(body)))))
}

const identityOf = (request: FastifyRequest) => ({
  callerId: request.caller.id,
  route: `${request.method} ${request.url.split('?')[0]}`,
  key: String(request.headers['idempotency-key']),
  requestHash: createHash('sha256')
    .update(JSON.stringify([request.query, request.largeBody?.hash ?? request.body]))
    .digest('hex'),
})

/** In parts of some megabytes: to encode or to write a long text in one go would hold up others. */
async function longTextOf<T>({ status, headers = {}, body }: CreatedResponse<T>) {
  const parts: Buffer[] = []
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of jsonPieces(body as object)) {
    pieces.push(Buffer.from(piece))
    bytes += pieces.at(-1)?.length ?? 0
    if (bytes < PART_BYTES) continue
    parts.push(Buffer.concat(pieces))
    pieces = []
    bytes = 0
  }
  return { status, headers, body: [...parts, Buffer.concat(pieces)] }
}

const PART_BYTES = 4 * 1024 * 1024

/** The pieces make up a T; they go out as they are taken. */
function inPieces<T>(reply: FastifyReply, body: T): T {
  reply.type('application/json; charset=utf-8')
  return Readable.from(jsonPieces(body as object), { objectMode: false }) as unknown as T
}

/** The text is what the serializer made of a T; it goes out as it is. */
function alreadySerialized<T>(reply: FastifyReply, text: string | Buffer[]): T {
  if (Array.isArray(text)) return Readable.from(text, { objectMode: false }) as unknown as T
  reply.serializer((payload) => payload as unknown as string)
  return text as unknown as T
}

const textIn = (body: string | Buffer[]) => (Array.isArray(body) ? Buffer.concat(body).toString() : body)
