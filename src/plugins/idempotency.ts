import { createHash } from 'node:crypto'
import { parse as parseQuery } from 'node:querystring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { KnownResponse } from '../services/idempotency.ts'
import type { Services, UseCases } from '../services/index.ts'
import { serialized } from './pages.ts'

interface CreatedResponse<T> {
  status: number
  headers?: Record<string, string>
  body: T
  /** False if nothing was created or changed: such a response is not stored. */
  hasEffect?: boolean
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
  const { status, headers = {}, body } = completion ? await completion.complete(made) : made
  reply.status(status).headers(headers)
  return body
}

async function once<T>(services: Needed, call: IdempotentCall<T>): Promise<T> {
  const { request, reply, restrict, completion, shared } = call
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
      made = await call.work(services.useCasesIn(repos))
      return { ...textOf(made), hasEffect: made.hasEffect ?? true }
    },
    completion: completion && {
      withinMs: completion.withinMs,
      complete: async () => textOf(await completion.complete(made as CreatedResponse<T>)),
    },
  })
  if (response.isReplay) reply.header('idempotency-replayed', 'true')
  reply.status(response.status).headers(response.headers)
  const { body } = response
  return serialized(reply, response.isReplay && restrict ? JSON.stringify(restrict(JSON.parse(body))) : body)
}

function identityOf(request: FastifyRequest) {
  const { method, url, caller, headers, body } = request
  const [, ...query] = url.split('?')
  // Without its defaults: a request that is repeated after an upgrade may get others.
  const sent = [parseQuery(query.join('?')), body]
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
