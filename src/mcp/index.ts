import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Services } from '../services/index.ts'
import { nameConversations } from './conversation.ts'
import type { McpHandler } from './handler.ts'
import type { Exchange } from './server.ts'

/**
 * The second door: AI tools over Streamable HTTP, without sessions, for clients of both protocol eras. The SDK takes a
 * tenth of the start to load, so it is loaded for the first assistant that calls.
 */
export const mcpRoutes: FastifyPluginAsync<Services> = async (app, services) => {
  let made: Promise<McpHandler> | undefined
  const handler = () => {
    made ??= import('./handler.ts').then(({ mcpHandler }) => mcpHandler(app, services))
    return made
  }
  nameConversations(app)
  const listeners = new Set<AbortController>()
  // An open stream would hold the close of the process. What is being answered is finished.
  app.addHook('preClose', async () => {
    for (const listener of listeners) listener.abort()
  })
  app.addHook('onClose', async () => (await made)?.close())

  app.post(
    '',
    {
      config: { scope: 'any', takesBatches: true, isLong: ({ body }) => isListening(body) },
      schema: { hide: true },
    },
    async (request, reply) => {
      const { caller, id: requestId, log } = request
      const gone = new AbortController()
      if (isListening(request.body)) listeners.add(gone)
      reply.raw.once('close', () => {
        listeners.delete(gone)
        gone.abort()
      })
      const response = await (await handler()).fetch(webRequest(request, gone.signal), {
        parsedBody: request.body,
        authInfo: {
          token: '',
          clientId: caller.keyId,
          scopes: caller.scopes,
          extra: { exchange: { caller, requestId, log } satisfies Exchange },
        },
      })
      if (isListening(request.body)) return reply.send(response)
      // Whole, so that it counts among the large responses. The SDK makes its one message at once in any case.
      const body = Buffer.from(await response.arrayBuffer())
      reply.status(response.status).headers(Object.fromEntries(response.headers))
      return reply.send(body.length > 0 ? body : null)
    },
  )
}

const isListening = (body: unknown) => (body as { method?: unknown })?.method === 'subscriptions/listen'

/** What the SDK looks at beside the body: method, headers, and whether the client is still there; no address. */
function webRequest({ method, headers }: FastifyRequest, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
  )
  return new Request('http://localhost/mcp', { method, headers: new Headers(pairs), signal })
}
