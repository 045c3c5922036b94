import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { givenProjectWithKey } from '../support/mcp-clients.ts'
import { officialMcpTools } from '../support/official-mcp-tools.ts'

let service: TestApp
let tools: Awaited<ReturnType<typeof officialMcpTools>>
beforeAll(async () => {
  tools = await officialMcpTools()
  service = await startApp()
}, 300_000)
afterAll(async () => {
  await service.close()
  await tools.close()
})

/** Runs the inspector; each run is a process that connects by itself. */
const inspect = (args: string[], key = service.adminKey) =>
  tools.run('mcp-inspector', [
    '--cli',
    `${service.url}/mcp`,
    '--transport',
    'http',
    '--header',
    `X-API-Key: ${key}`,
    '--method',
    ...args,
  ])

/** Calls a tool with arguments as on a command line; returns its structured content. */
async function call(key: string, name: string, ...args: string[]) {
  const toolArgs = args.length > 0 ? ['--tool-arg', ...args] : []
  const { code, output } = await inspect(['tools/call', '--tool-name', name, ...toolArgs], key)
  expect([name, code, JSON.parse(output).isError ?? false]).toEqual([name, 0, false])
  return JSON.parse(output).structuredContent
}

describe('the official inspector', { timeout: 120_000 }, () => {
  test('lists the tools and reports no problem in their schemas', async () => {
    const { code, output, errors } = await inspect(['tools/list', '--strict'])

    expect(JSON.parse(output).tools).toHaveLength(10)
    expect(errors).not.toMatch(/Error:|Warning:/)
    expect(code).toBe(0)
  })

  test('claims a task, updates it, comments, and completes it', async () => {
    const { key, inbox } = await givenProjectWithKey(service)
    const { id } = await service.given.task(inbox, { title: 'A crash' })

    const context = await call(key, 'get_context', 'budgetTokens=2000')
    const claimed = await call(key, 'claim_task', 'leaseSeconds=600')
    const claim = `claimNumber=${claimed.claim.number}`
    await call(key, 'update_task', `id=${id}`, claim, `version=${claimed.version}`, 'notes=Found it.')
    await call(key, 'add_comment', `id=${id}`, 'body=Fixed in 2.3.2.')
    const done = await call(key, 'update_task', `id=${id}`, claim, 'status=done')

    expect(context.tasks.recent).toMatchObject([{ id, isReady: true }])
    expect([claimed.id, done.status]).toEqual([id, 'done'])
    expect((await service.get(`/api/tasks/${id}`, { key })).body).toMatchObject({
      status: 'done',
      notes: 'Found it.',
      commentCount: 1,
      claim: null,
    })
  })
})
