import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { startKeyProxy } from '../support/key-proxy.ts'
import { fetchTools, TOOLS } from '../tools/fetch.ts'

const BASELINE = fileURLToPath(new URL('conformance-baseline.yaml', import.meta.url))
const BIN = `${TOOLS}node_modules/.bin/`

let service: TestApp
let proxy: Awaited<ReturnType<typeof startKeyProxy>>
let folder: string
beforeAll(async () => {
  fetchTools()
  service = await startApp()
  proxy = await startKeyProxy(service.url, service.adminKey)
  folder = await mkdtemp(join(tmpdir(), 'inlet-mcp-'))
}, 300_000)
afterAll(async () => {
  proxy.close()
  await service.close()
  await rm(folder, { recursive: true })
})

/** Runs one of the development tools, in a folder of its own and under this very Node. */
function run(tool: string, args: string[]): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, [BIN + tool, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output, errors })))
}

describe('the official conformance suite', () => {
  test.each(['2025-11-25', '2026-07-28'])(
    'fails only where it needs its own fixtures: %s',
    { timeout: 120_000 },
    async (revision) => {
      const { code, output } = await run('conformance', [
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
})

describe('the official inspector', () => {
  const inspect = (...args: string[]) =>
    run('mcp-inspector', [
      '--cli',
      `${service.url}/mcp`,
      '--transport',
      'http',
      '--header',
      `X-API-Key: ${service.adminKey}`,
      ...args,
    ])

  test('lists the tools and reports no problem in their schemas', { timeout: 120_000 }, async () => {
    const { code, output, errors } = await inspect('--method', 'tools/list', '--strict')

    expect(JSON.parse(output).tools).toHaveLength(9)
    expect(errors).not.toMatch(/Error:|Warning:/)
    expect(code).toBe(0)
  })

  test('calls a tool', { timeout: 120_000 }, async () => {
    const call = ['--method', 'tools/call', '--tool-name']

    const made = await inspect(...call, 'create_rule', '--tool-arg', 'content=Speak plainly.', 'priority=3')
    const context = await inspect(...call, 'get_context', '--tool-arg', 'budgetTokens=2000')

    expect([made.code, context.code]).toEqual([0, 0])
    expect(JSON.parse(context.output).structuredContent.instructions).toMatchObject([
      { content: 'Speak plainly.', priority: 3 },
    ])
  })
})
