import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '9.9.9' } },
}

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

test('the API reference, the MCP server and the metrics show the version of package.json', async () => {
  const headers = { accept: 'application/json, text/event-stream' }
  const reference = await service.get('/openapi.json', { key: null })
  const initialized = await service.post('/mcp', INITIALIZE, { headers })
  const metrics = await service.get('/metrics')

  expect(reference.body.info.version).toBe(version)
  const text = typeof initialized.body === 'string' ? initialized.body : JSON.stringify(initialized.body)
  expect(/"serverInfo":\{[^}]*"version":"([^"]+)"/.exec(text)?.[1]).toBe(version)
  expect(/^inlet_build_info\{.*version="([^"]+)"/m.exec(metrics.body)?.[1]).toBe(version)
})
