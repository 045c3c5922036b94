import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../services/index.ts'
import { type Exchange, mcpServers } from './server.ts'

/**
 * Maximum of open streams. Tools, resources and prompts never change while the process runs, so streams carry no
 * messages.
 */
const MAX_LISTENERS = 100

export type McpHandler = ReturnType<typeof mcpHandler>

/** Handles MCP messages, each with a server of its own. */
export function mcpHandler(app: FastifyInstance, services: Services) {
  const serverOf = mcpServers(app, { useCases: services, metrics: services.metrics })
  return createMcpHandler(({ authInfo, era }) => serverOf(exchangeOf(authInfo), era), {
    onerror: (err) => app.log.debug({ err }, 'MCP request refused'),
    maxSubscriptions: MAX_LISTENERS,
  })
}

/** Cast: only the route sets this value. */
const exchangeOf = (authInfo: { extra?: Record<string, unknown> } | undefined) =>
  authInfo?.extra?.exchange as Exchange
