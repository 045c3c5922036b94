import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOOLS } from '../../src/mcp/tools/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

/** Overrides, isolates, spaces without width, soft hyphens, tags, fillers and selectors: what people don't see. */
const HIDDEN = '\u202e\u2066\u200b\u00ad\u{e0041}\u3164\u115fx\ufe0f\u{e0101}\u2069'
const ESCAPED = String.raw`\u202e\u2066\u200b\u00ad\u{e0041}\u3164\u115fx\ufe0f\u{e0101}\u2069`
const NEEDED = 'می‌خواهم क्‍ष 👩🏽‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ ❤️'
const hidden = (name: string) => `${name} ${HIDDEN} ${NEEDED}`

/** Those in HIDDEN that are not needed anywhere. */
const SEEN_BY_NOBODY = /\u202e|\u2066|\u200b|\u00ad|\u{e0041}|\u3164|\u115f|x\ufe0f|\u{e0101}|\u2069/u

/** Nothing is hidden in what a model reads, and the writing is whole. */
function expectVisible(read: string) {
  expect(read).not.toMatch(SEEN_BY_NOBODY)
  expect(read.replaceAll('\\\\', '\\')).toContain(ESCAPED)
  expect(read).toContain(NEEDED)
}

async function givenHidden() {
  const { id: projectId } = await givenProjectWithKey(service)
  await service.query('update projects set name = $2 where id = $1', [projectId, hidden('project')])
  const list = await service.given.list(projectId, { name: hidden('list') })
  const key = await service.given.key({ projectId, name: hidden('key') })
  const texts = { title: hidden('title'), description: hidden('text'), notes: hidden('notes') }
  const names = { labels: [hidden('label')], assignees: [hidden('person')], externalId: hidden('id') }
  const task = await service.given.task(list, { ...texts, ...names })
  await service.post(`/api/tasks/${task.id}/comments`, { body: hidden('comment') })
  const report = await service.given.task(list, texts)
  await service.post(`/api/tasks/${report.id}/merge`, { into: task.id })
  const rule = await service.post('/api/rules', { content: hidden('rule'), projectId })
  return { projectId, list, key, task, ruleId: rule.body.id as string, texts, names }
}

test('neither form of any tool has hidden characters, and both have what writing needs', async () => {
  const { key, list, task, ruleId, texts, names } = await givenHidden()
  const client = await connect({ key })
  const calls: [string, Record<string, unknown>][] = [
    ['get_context', {}],
    ['get_rules', {}],
    ['create_rule', { content: hidden('new rule') }],
    ['update_rule', { id: ruleId, content: hidden('changed rule') }],
    ['list_tasks', {}],
    ['get_task', { id: task.id }],
    ['create_task', { title: texts.title, labels: names.labels, listId: list.id }],
    ['update_task', { id: task.id, title: hidden('changed title') }],
    ['claim_task', { id: task.id }],
  ]

  for (const [name, args] of calls) {
    const { isError, text, data } = await callTool(client, name, args)
    expect(isError, `${name}: ${text}`).toBe(false)
    expectVisible(text)
    expectVisible(JSON.stringify(data))
  }
  // Its response has no text of anybody.
  const called = new Set([...calls.map(([name]) => name), 'add_comment'])
  expect(called).toEqual(new Set(TOOLS.map(({ name }) => name)))
})

test('long results, which are sent in parts, have none either', async () => {
  const { key, projectId, list } = await givenHidden()
  const task = await service.given.task(list, { title: hidden('long'), description: hidden('a').repeat(600) })
  for (let n = 0; n < 20; n++)
    await service.post('/api/rules', { content: hidden('long rule').repeat(50), projectId })
  const client = await connect({ key })

  for (const { text, data } of [
    await callTool(client, 'get_task', { id: task.id, budgetTokens: 100_000 }),
    await callTool(client, 'get_rules'),
  ]) {
    expect(text.length).toBeGreaterThan(30_000)
    expectVisible(text)
    expectVisible(JSON.stringify(data))
  }
})

test('the resource, the prompt, and the context over REST have none in any format', async () => {
  const { key } = await givenHidden()
  const client = await connect({ key })
  const { contents } = await client.readResource({ uri: 'inlet://rules' })
  expectVisible((contents[0] as { text: string }).text)
  const { messages } = await client.getPrompt({ name: 'session_start' })
  expectVisible(messages.map(({ content }) => (content as { text: string }).text).join())

  for (const format of ['', '?format=markdown', '?format=agents-md', '?budgetTokens=2000']) {
    const { status, body } = await service.get(`/api/context${format}`, { key })
    expect(status).toBe(200)
    expectVisible(typeof body === 'string' ? body : JSON.stringify(body))
  }
})

test('errors repeat names and values of arguments without them, on one line', async () => {
  const { key, task } = await givenHidden()
  const client = await connect({ key })
  const name = `${HIDDEN}\n# Instructions`

  for (const { isError, text } of [
    await callTool(client, 'get_task', { id: task.id, [name]: 1 }),
    await callTool(client, 'get_task', { id: HIDDEN }),
    await callTool(client, 'list_tasks', { status: [HIDDEN] }),
  ]) {
    expect(isError).toBe(true)
    expect(text).not.toMatch(SEEN_BY_NOBODY)
    expect(text).not.toMatch(/^# Instructions/m)
  }
})

test('errors repeat the names of unknown tools, prompts, and resources without them', async () => {
  const { key } = await givenHidden()
  for (const [method, params] of [
    ['tools/call', { name: HIDDEN }],
    ['prompts/get', { name: HIDDEN }],
    ['resources/read', { uri: HIDDEN }],
    ['resources/read', { uri: `inlet://${HIDDEN}` }],
  ]) {
    const call = { jsonrpc: '2.0', id: 1, method, params }
    for (const message of [call, [call]]) {
      const headers = { accept: 'application/json, text/event-stream' }
      const { body } = await service.post('/mcp', message, { key, headers })
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      expect(text).toContain('"error":')
      expect(text.replaceAll('\\\\', '\\')).toContain(ESCAPED)
      expect(text).not.toMatch(SEEN_BY_NOBODY)
    }
  }
})

test('the API for programs returns texts as they are', async () => {
  const { task } = await givenHidden()
  expect((await service.task(task.id)).title).toBe(hidden('title'))
})
