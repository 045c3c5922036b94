import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../services/index.ts'
import { type Exchange, mcpServers } from './server.ts'

/** Streams that may be open at a time. Nothing changes while the process lives, so they carry nothing. */
const MAX_LISTENERS = 100

export type McpHandler = ReturnType<typeof mcpHandler>

/** What answers MCP messages, each on a server of its own. */
export function mcpHandler(app: FastifyInstance, services: Services) {
  const serverOf = mcpServers(app, services)
  return createMcpHandler(({ authInfo, era }) => serverOf(exchangeOf(authInfo), era), {
    onerror: (err) => app.log.debug({ err }, 'MCP request refused'),
    maxSubscriptions: MAX_LISTENERS,
  })
}

/** Put there by the route, and by nothing else. */
const exchangeOf = (authInfo: { extra?: Record<string, unknown> } | undefined) =>
  authInfo?.extra?.exchange as Exchange
