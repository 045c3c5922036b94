import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { startKeyProxy } from '../support/key-proxy.ts'
import { officialMcpTools } from '../support/official-mcp-tools.ts'

const BASELINE = fileURLToPath(new URL('conformance-baseline.yaml', import.meta.url))

let service: TestApp
let proxy: Awaited<ReturnType<typeof startKeyProxy>>
let tools: Awaited<ReturnType<typeof officialMcpTools>>
beforeAll(async () => {
  tools = await officialMcpTools()
  service = await startApp()
  proxy = await startKeyProxy(service.url, service.adminKey)
}, 300_000)
afterAll(async () => {
  proxy.close()
  await service.close()
  await tools.close()
})

test.each(['2025-11-25', '2026-07-28'])(
  'the official conformance suite fails only where it needs its own fixtures: %s',
  { timeout: 120_000 },
  async (revision) => {
    const { code, output } = await tools.run('conformance', [
      'server',
      '--url',
      `${proxy.url}/mcp`,
      '--requirements',
      revision,
      '--expected-failures',
      BASELINE,
    ])

    expect(output).toContain('Baseline check passed')
    expect(code).toBe(0)
  },
)
