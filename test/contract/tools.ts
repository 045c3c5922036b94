import type { FastifyInstance } from 'fastify'

/** The AI tools as `tools/list` serves them. */
export async function servedTools(app: FastifyInstance, key: string): Promise<unknown> {
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { host: '127.0.0.1', 'x-api-key': key, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })
  // One event of a stream.
  const data = /^data: (.*)$/m.exec(response.body)?.[1]
  if (!data) throw new Error(`tools/list answered ${response.statusCode}: ${response.body}`)
  return JSON.parse(data).result
}
