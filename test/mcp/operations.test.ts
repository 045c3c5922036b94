import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longResults } from '../../src/mcp/long-results.ts'
import { mcpServers } from '../../src/mcp/server.ts'
import type { Tool } from '../../src/mcp/tools/index.ts'
import type { Caller } from '../../src/services/access.ts'
import { webhookSecretOperations } from '../../src/services/webhook-secrets.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { callerWith } from '../support/caller.ts'
import { callTool, type McpClient } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const serviceWide: Tool = {
  name: 'list_webhook_secrets',
  title: 'List webhook secrets',
  description: 'A tool over an operation of the whole service.',
  operation: webhookSecretOperations.list,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: Type.Object({}),
  output: Type.Object({}),
  run: async () => ({ data: {}, text: () => 'listed' }),
}

async function callAs(reach: Pick<Caller, 'scopes' | 'projectIds'>) {
  const caller = callerWith({ channel: 'assistant', name: 'test', ...reach })
  const exchange = {
    caller,
    requestId: 'test',
    log: pino({ level: 'silent' }),
    results: longResults(),
    inTurn: <T>(work: () => Promise<T>) => work(),
    requireWritable: () => {},
    hasEffect: false,
  }
  const server = mcpServers(service.app, {
    useCases: service.service,
    metrics: service.service.metrics,
    tools: [serviceWide],
  })(exchange, 'legacy')
  const [ofServer, ofClient] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([server.connect(ofServer), client.connect(ofClient)])
  try {
    return await callTool(client as McpClient, serviceWide.name)
  } finally {
    await client.close()
  }
}

test('a tool over a service-wide operation refuses a key that is bound to a project', async () => {
  const { id: projectId } = await service.given.project()

  expect(await callAs({ scopes: ['admin'], projectIds: null })).toMatchObject({
    isError: false,
    text: 'listed',
  })
  const refused = await callAs({ scopes: ['admin'], projectIds: [projectId] })
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('insufficient_scope') })
})

test('a tool refuses a key without the scope of its operation', async () => {
  const refused = await callAs({ scopes: ['tasks:write'], projectIds: null })

  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('requires the scope admin') })
})
