import { createHash } from 'node:crypto'
import { parse as parseQuery } from 'node:querystring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { replaceJsonItems } from '../lib/json-items.ts'
import { joinPieces, jsonPieces } from '../lib/json-pieces.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import type { KnownResponse } from '../services/idempotency.ts'
import type { Services, UseCases } from '../services/index.ts'
import { serialized } from './pages.ts'

interface CreatedResponse<T> {
  status: number
  headers?: Record<string, string>
  body: T
  /** False if nothing was created or changed: such a response is not stored. */
  hasEffect?: boolean
  /** The same body for tasks that are too long to be in memory together: its arrays may be async iterables. */
  inPieces?: ((useCases: UseCases) => object) | undefined
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
  /** The same for each item of an array of it, for responses that may be too long to be parsed in one go. */
  restrictItems?: { itemsOf: string; replace(item: never): unknown } | undefined
  completion?: Completion<T>
  /**
   * Does the work together with that of other requests; `known` makes what is stored of the response, which does not
   * depend on the database. Returns undefined if nothing was done, and the work has to be done alone.
   */
  shared?: (known: (response: CreatedResponse<T>) => KnownResponse) => Promise<object | undefined> | undefined
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

type IdempotentCall<T> = IdempotentRequest<T> & { work: Work<T> }

type Needed = Pick<Services, 'idempotency' | 'useCasesIn'> & UseCases

export const idempotency = fp<{ services: Needed }>(
  async function idempotency(app: FastifyInstance, { services }) {
    app.decorate('idempotently', (call, work) =>
      typeof call.request.headers['idempotency-key'] === 'string'
        ? once(services, { ...call, work })
        : respond(services, { ...call, work }),
    )
  },
  { name: 'idempotency', dependencies: ['pages'] },
)

async function respond<T>(useCases: UseCases, { reply, completion, work }: IdempotentCall<T>): Promise<T> {
  const made = await work(useCases)
  const { status, headers = {}, body, inPieces } = completion ? await completion.complete(made) : made
  reply.status(status).headers(headers)
  return inPieces ? reply.sendPieces(inPieces(useCases)) : body
}

async function once<T>(services: Needed, call: IdempotentCall<T>): Promise<T> {
  const { request, reply, restrict, restrictItems, completion, shared } = call
  const identity = identityOf(request)
  const textOf = ({ status, headers = {}, body }: CreatedResponse<T>) => ({
    status,
    headers,
    // A response without a body has no serializer.
    body:
      body === null ? '' : String(reply.serializeInput(body as never, String(status), 'application/json')),
  })
  let known: KnownResponse | undefined
  const isShared = await shared?.((response) => {
    known = services.idempotency.known(identity, textOf(response))
    return known
  })
  if (isShared && known) {
    return serialized(reply.status(known.status).headers(known.headers), known.body)
  }
  let made: CreatedResponse<T> | undefined
  const response = await services.idempotency.once(identity, {
    work: async (repos) => {
      const useCases = services.useCasesIn(repos)
      made = await call.work(useCases)
      const stored = made.inPieces ? inParts(made, made.inPieces(useCases)) : textOf(made)
      return { ...stored, hasEffect: made.hasEffect ?? true }
    },
    completion: completion && {
      withinMs: completion.withinMs,
      complete: async () => textOf(await completion.complete(made as CreatedResponse<T>)),
    },
  })
  if (response.isReplay) reply.header('idempotency-replayed', 'true')
  reply.status(response.status).headers(response.headers)
  const { body } = response
  // Not stored, and its transaction has ended, so it is read again outside.
  if (!response.isReplay && made?.inPieces && made.hasEffect === false) {
    return reply.sendPieces(made.inPieces(services))
  }
  if (response.isReplay && restrictItems) {
    const parts = typeof body === 'string' ? [body] : body()
    return serialized(reply, replaceJsonItems(parts, restrictItems))
  }
  if (response.isReplay && restrict) {
    if (typeof body !== 'string') throw new Error('A response in parts is restricted item by item.')
    return serialized(reply, JSON.stringify(restrict(JSON.parse(body))))
  }
  return serialized(reply, typeof body === 'string' ? body : body())
}

function identityOf(request: FastifyRequest) {
  const { method, url, caller, headers, body, largeBody } = request
  const [, ...query] = url.split('?')
  // Without its defaults: a request that is repeated after an upgrade may get others.
  const sent = [parseQuery(query.join('?')), largeBody?.hash ?? body]
  return {
    callerId: caller.id,
    route: `${method} ${pathOf(request)}`,
    key: String(headers['idempotency-key']),
    requestHash: createHash('sha256').update(JSON.stringify(sent)).digest('hex'),
  }
}

/** The same however the ids in it are written: in capitals, or with escaped characters. */
function pathOf({ routeOptions: { url = '' }, params }: FastifyRequest): string {
  const values = params as Record<string, string>
  return url.replace(/:(\w+)/g, (_, name: string) => String(values[name]).toLowerCase())
}

/** In parts, because encoding or writing a long text at once would block the event loop. */
const inParts = <T>({ status, headers = {} }: CreatedResponse<T>, body: object) => ({
  status,
  headers,
  body: () => joinPieces(pacedPieces(jsonPieces(body)), PART_LENGTH),
})

const PART_LENGTH = 256 * 1024
