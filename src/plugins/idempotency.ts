import { createHash } from 'node:crypto'
import { parse as parseQuery } from 'node:querystring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { IdempotencyKey, Outcome } from '../services/idempotency.ts'
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
}

interface KeyedRequest<T, Effect> extends IdempotentRequest<T> {
  responseOf(effect: Effect): CreatedResponse<T>
}

type Work<T> = (useCases: UseCases) => Promise<CreatedResponse<T>>

/** Does the work with the key of the request, if it has one. */
type KeyedWork<Effect> = <Replay = never>(
  idempotencyKey?: IdempotencyKey<Effect, Replay>,
) => Promise<Effect | Replay>

type KeyedCall<T, Effect> = KeyedRequest<T, Effect> & { work: KeyedWork<Effect> }

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Handles a creating POST once for each Idempotency-Key. With the header, the use cases run in the transaction
     * that stores the response.
     */
    idempotently<T>(request: IdempotentRequest<T>, work: Work<T>): Promise<T>
    /** The same for a use case that takes the key, and may store the response in the statement of its effect. */
    withIdempotencyKey<T, Effect>(request: KeyedRequest<T, Effect>, work: KeyedWork<Effect>): Promise<T>
  }
}

type Needed = Pick<Services, 'idempotency' | 'useCasesIn'> & UseCases

export const idempotency = fp<{ services: Needed }>(
  async function idempotency(app: FastifyInstance, { services }) {
    app.decorate('withIdempotencyKey', async (call, work) =>
      typeof call.request.headers['idempotency-key'] === 'string'
        ? once(services, { ...call, work })
        : respond(call, call.responseOf(await work())),
    )
    app.decorate('idempotently', <T>(call: IdempotentRequest<T>, work: Work<T>) =>
      app.withIdempotencyKey<T, CreatedResponse<T>>({ ...call, responseOf: (made) => made }, (key) =>
        key ? key.once((repos) => work(services.useCasesIn(repos))) : work(services),
      ),
    )
  },
  { name: 'idempotency', dependencies: ['pages'] },
)

async function respond<T>({ reply, completion }: IdempotentRequest<T>, made: CreatedResponse<T>): Promise<T> {
  const { status, headers = {}, body } = completion ? await completion.complete(made) : made
  reply.status(status).headers(headers)
  return body
}

async function once<T, Effect>(
  { idempotency }: Needed,
  { request, reply, restrict, completion, responseOf, work }: KeyedCall<T, Effect>,
): Promise<T> {
  const identity = identityOf(request)
  const textOf = ({ status, headers = {}, body }: CreatedResponse<T>) => ({
    status,
    headers,
    // A response without a body has no serializer.
    body:
      body === null ? '' : String(reply.serializeInput(body as never, String(status), 'application/json')),
  })
  let response: Outcome | undefined
  await work<'replayed'>({
    responseTo(effect) {
      const known = idempotency.known(identity, textOf(responseOf(effect)))
      response = { ...known, isReplay: false }
      return known
    },
    async once(work) {
      let effect: Effect | undefined
      const made = () => responseOf(effect as Effect)
      response = await idempotency.once(identity, {
        work: async (repos) => {
          effect = await work(repos)
          return { ...textOf(made()), hasEffect: made().hasEffect ?? true }
        },
        completion: completion && {
          withinMs: completion.withinMs,
          complete: async () => textOf(await completion.complete(made())),
        },
      })
      return response.isReplay ? 'replayed' : (effect as Effect)
    },
  })
  const { status, headers, body, isReplay } = response as Outcome
  if (isReplay) reply.header('idempotency-replayed', 'true')
  reply.status(status).headers(headers)
  return serialized(reply, isReplay && restrict ? JSON.stringify(restrict(JSON.parse(body))) : body)
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
