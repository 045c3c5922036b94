import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Operation } from '../domain/operation.ts'
import { visible } from '../domain/visible.ts'
import { asRecord } from '../lib/as-record.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import { semaphore } from '../lib/semaphore.ts'
import { streamedInTurns } from '../lib/streamed.ts'
import { without } from '../lib/without.ts'
import type { Services } from '../services/index.ts'
import { longResults } from './long-results.ts'
import type { Exchange, McpHandler } from './server.ts'

/**
 * The AI tools over stateless Streamable HTTP, for clients of both protocol versions. Loading the SDK takes a tenth of
 * the startup time, so it is loaded by the first MCP request.
 */
export const mcpRoutes: FastifyPluginAsync<Services> = async (app, services) => {
  let made: Promise<McpHandler> | undefined
  const handler = () => {
    made ??= import('./server.ts').then(({ mcpHandler }) => mcpHandler(app, services))
    return made
  }
  assignSessionIds(app)
  const listeners = new Set<AbortController>()
  // An open stream would block closing the process. Requests in progress are finished.
  app.addHook('preClose', async () => {
    for (const listener of listeners) listener.abort()
  })
  app.addHook('onClose', async () => (await made)?.close())

  app.post(
    '',
    {
      config: { operation: ANY_TOOL, takesBatches: true, isLong: ({ body }) => isListening(body) },
      schema: { hide: true },
    },
    async (request, reply) => {
      const { caller, id: requestId, log } = request
      const results = longResults()
      const requireWritable = services.importing.requireNone
      const inTurn = turnsOf(request)
      const exchange: Exchange = {
        caller,
        requestId,
        log,
        results,
        inTurn,
        requireWritable,
        hasEffect: false,
      }
      const gone = new AbortController()
      if (isListening(request.body)) listeners.add(gone)
      reply.raw.once('close', () => {
        listeners.delete(gone)
        gone.abort()
      })
      const response = await (await handler()).fetch(webRequest(request, gone.signal), {
        parsedBody: forSdk(request.body),
        authInfo: {
          token: '',
          clientId: caller.principal.id,
          scopes: caller.scopes,
          extra: { exchange },
        },
      })
      if (isListening(request.body)) return reply.send(response)
      // The SDK builds its message in one piece; long results are not in it yet.
      const body = Buffer.from(await response.arrayBuffer())
      reply.status(response.status).headers(Object.fromEntries(response.headers))
      reply.isRefusable = !exchange.hasEffect
      reply.memoryBytes = results.memoryBytes()
      if (body.length === 0) return reply.send(null)
      return reply.send(
        results.isEmpty() ? body : streamedInTurns(pacedPieces(results.fill(body.toString()))),
      )
    },
  )
}

const SESSION_HEADER = 'mcp-session-id'
/** The characters that the protocol allows in a session id, limited in length for the log. */
const VALID_SESSION_ID = /^[\x21-\x7e]{1,128}$/

/**
 * Clients of the legacy protocol receive a session id on initialize and send it with every request. Nothing is stored
 * for it, so any instance accepts it and no session expires; it only correlates the log lines of one assistant.
 */
function assignSessionIds(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    const id = request.headers[SESSION_HEADER]
    if (typeof id === 'string' && VALID_SESSION_ID.test(id))
      request.log = request.log.child({ conversation: id })
  })
  app.addHook('onSend', async (request, reply) => {
    if (isInitialize(request.body) && reply.statusCode === 200) reply.header(SESSION_HEADER, randomUUID())
  })
}

const isInitialize = (body: unknown) => (body as { method?: unknown })?.method === 'initialize'

/** Each tool, resource and prompt checks its own operation. */
const ANY_TOOL: Operation = { scope: 'any' }

/** The messages of a batch count as the requests that they stand for. */
function turnsOf({ body, inFlight }: FastifyRequest): Exchange['inTurn'] {
  if (!Array.isArray(body)) return (work) => work()
  const inTurn = semaphore(MAX_CALLS_AT_ONCE)
  return (work) => inTurn(() => inFlight(work))
}

/** Of one batch. */
const MAX_CALLS_AT_ONCE = 4

const isListening = (body: unknown) => (body as { method?: unknown })?.method === 'subscriptions/listen'

/**
 * Messages as the SDK gets them. Some clients send null for a call without arguments, which it refuses. Its errors
 * repeat names and addresses as they were sent.
 */
function forSdk(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(forSdk)
  const { params } = asRecord(body)
  if (typeof params !== 'object' || params === null) return body
  const { name, uri, arguments: args } = asRecord(params)
  return {
    ...asRecord(body),
    params: {
      ...(args === null ? without(asRecord(params), ['arguments']) : params),
      ...(typeof name === 'string' && { name: visible(name) }),
      ...(typeof uri === 'string' && { uri: visible(uri) }),
    },
  }
}

/** What the SDK uses beside the body: method, headers and the abort signal; no client address. */
function webRequest({ method, headers }: FastifyRequest, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
  )
  return new Request('http://localhost/mcp', { method, headers: new Headers(pairs), signal })
}
