import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyNotSupported } from '../errors/index.ts'
import { jsonPieces } from '../lib/json-pieces.ts'
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

export interface CreatedResponse<T> {
  status: number
  headers?: Record<string, string>
  body: T
  /** False where nothing was made or changed: with an Idempotency-Key it is then not kept. */
  hasEffect?: boolean
  /** Its items are long: they are written one by one, so that nobody waits for all of them. */
  isLong?: boolean
}

interface OnceOptions<T> {
  /** What this caller may see of an answer that is replayed, where that is not all of it. */
  restrict?: ((body: T) => T) | undefined
  /** What is done and waited for once the effect is committed. */
  completion?:
    | { withinMs: number; complete(answer: CreatedResponse<T>): Promise<CreatedResponse<T>> }
    | undefined
}

/**
 * Answers a creating POST, once for each Idempotency-Key. Without the header the use cases run as they are; with it
 * they run in the transaction that keeps the answer.
 */
export function idempotently({ idempotency, useCasesIn, ...outside }: Services) {
  return async function once<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (useCases: UseCases) => Promise<CreatedResponse<T>>,
    { restrict, completion }: OnceOptions<T> = {},
  ): Promise<T> {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string') {
      const made = await work(outside)
      const { status, headers = {}, body, isLong } = completion ? await completion.complete(made) : made
      reply.status(status).headers(headers)
      return isLong ? inPieces(reply, body) : body
    }
    const identity = {
      callerId: request.caller.id,
      route: `${request.method} ${request.url.split('?')[0]}`,
      key,
      requestHash: createHash('sha256')
        .update(JSON.stringify([request.query, request.largeBody?.hash ?? request.body]))
        .digest('hex'),
    }
    const textOf = ({ status, headers = {}, body }: CreatedResponse<T>) => ({
      status,
      headers,
      body: String(reply.serializeInput(body as never, String(status), 'application/json')),
    })
    let made: CreatedResponse<T>
    const answer = await idempotency.once(
      identity,
      async (repos) => {
        made = await work(useCasesIn(repos))
        const kept = made.isLong ? await longTextOf(made) : textOf(made)
        return { ...kept, hasEffect: made.hasEffect ?? true }
      },
      completion && {
        withinMs: completion.withinMs,
        complete: async () => textOf(await completion.complete(made)),
      },
    )
    if (answer.isReplay) reply.header('idempotency-replayed', 'true')
    reply.status(answer.status).headers(answer.headers).type('application/json; charset=utf-8')
    const isRestricted = answer.isReplay && restrict !== undefined
    const { body } = answer
    if (isRestricted) return alreadySerialized(reply, JSON.stringify(restrict(JSON.parse(textIn(body)))))
    return alreadySerialized(reply, body)
  }
}

/** preHandler of routes whose answer holds a secret: it is never kept, so it cannot be replayed. */
export async function refuseIdempotencyKey(request: FastifyRequest) {
  if (request.headers['idempotency-key'] !== undefined) throw idempotencyNotSupported()
}

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
