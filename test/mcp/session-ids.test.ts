import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const ACCEPT = { accept: 'application/json, text/event-stream' }
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

interface LogLine {
  msg: string
  route?: string
  conversation?: string
}

let service: TestApp
let lines: LogLine[] = []
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  service = await startApp({ logger: pino({ level: 'info' }, sink) })
})
afterAll(() => service.close())

const post = (body: unknown, headers: Record<string, string> = {}) =>
  service.post('/mcp', body, { headers: { ...ACCEPT, ...headers } })

/** How the log names the conversation of the next response. */
async function conversationOf(id: string) {
  lines = []
  expect((await post(PING, { 'mcp-session-id': id })).status).toBe(200)
  await expect.poll(() => lines.some(({ route }) => route === '/mcp')).toBe(true)
  return lines.find(({ route }) => route === '/mcp')?.conversation
}

describe('an MCP session', () => {
  test('of an older protocol version gets an id, and no other response has one', async () => {
    const ids = [await post(INITIALIZE), await post(INITIALIZE)].map(({ status, headers }) => {
      expect(status).toBe(200)
      return headers.get('mcp-session-id')
    })

    expect(ids[0]).toMatch(/^[\w-]{36}$/)
    expect(ids[1]).not.toBe(ids[0])
    expect((await post(PING)).headers.has('mcp-session-id')).toBe(false)
  })

  test('is logged under the id its client sends, whichever instance assigned it', async () => {
    expect(await conversationOf('given-by-another')).toBe('given-by-another')
  })

  test('works and is not logged when its id is invalid', async () => {
    expect(await conversationOf('x'.repeat(129))).toBeUndefined()
    expect(await conversationOf('two words')).toBeUndefined()
  })
})
