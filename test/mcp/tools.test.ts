import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

const NAMES = [
  'get_context',
  'get_rules',
  'create_rule',
  'update_rule',
  'list_tasks',
  'get_task',
  'create_task',
  'update_task',
  'claim_task',
  'add_comment',
]

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (kind) => {
  test('lists ten tools, each with four annotations and an output schema', async () => {
    const { tools } = await (await connect({ kind })).listTools()

    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      })
      expect(outputSchema).toMatchObject({ type: 'object' })
    }
  })

  test('gets the instruction to call get_context first', async () => {
    const client = await connect({ kind })

    expect(client.getInstructions()).toMatch(/Call get_context first/)
    expect(client.getInstructions()).toMatch(/compacted/)
  })

  test('creates, changes, and deactivates a rule', async () => {
    const { key, id: projectId } = await givenProjectWithKey(service)
    const client = await connect({ key, kind })

    const made = await callTool(client, 'create_rule', { content: 'Speak plainly.', priority: 7 })
    const listed = await callTool(client, 'get_rules')
    const context = await callTool(client, 'get_context', { budgetTokens: 5000 })
    const off = await callTool(client, 'update_rule', { id: made.data.id, isActive: false })

    expect(made.data).toMatchObject({ projectId, priority: 7, content: 'Speak plainly.', isActive: true })
    expect(listed.data).toMatchObject({ data: [{ id: made.data.id }], nextCursor: null })
    expect(listed.text).toContain('Speak plainly.')
    expect(context.data).toMatchObject({ instructions: [{ id: made.data.id }], project: { id: projectId } })
    expect(context.text).toMatch(/^# Instructions[\s\S]*Speak plainly\.[\s\S]*# Overview/)
    expect(off.data).toMatchObject({ isActive: false, version: 2 })
    expect((await callTool(client, 'get_rules')).data.data).toEqual([])
  })

  test('creates, changes, and completes a task', async () => {
    const { key, inbox } = await givenProjectWithKey(service)
    const client = await connect({ key, kind })

    const made = await callTool(client, 'create_task', {
      title: 'Look into it',
      labels: ['a'],
      externalId: 'x',
    })
    const again = await callTool(client, 'create_task', { title: 'Look into it', externalId: 'x' })
    const done = await callTool(client, 'update_task', {
      id: made.data.id,
      status: 'done',
      notes: 'Was easy.',
    })
    const read = await callTool(client, 'get_task', { id: made.data.id })
    const listed = await callTool(client, 'list_tasks', { status: ['done'], limit: 5 })

    expect(made.data).toMatchObject({
      source: 'assistant',
      listId: inbox.id,
      descriptionReadOnly: false,
      createdBy: { type: 'assistant' },
    })
    expect(again.data.id).toBe(made.data.id)
    expect(done.data).toMatchObject({ status: 'done', version: 2 })
    expect(read.data).toEqual({
      ...done.data,
      notes: 'Was easy.',
      comments: [],
      latestReports: [],
      similar: [],
    })
    expect(listed.data).toMatchObject({ data: [{ id: made.data.id }], nextCursor: null })
    for (const { data } of [made, done, read]) expect(data).not.toHaveProperty('metadata')
  })

  test('reads the active rules as a resource, and the context as a prompt', async () => {
    const { key } = await givenProjectWithKey(service)
    const client = await connect({ key, kind })
    await callTool(client, 'create_rule', { content: 'Speak plainly.' })

    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['inlet://rules'])
    expect((await client.readResource({ uri: 'inlet://rules' })).contents).toMatchObject([
      { mimeType: 'text/markdown', text: expect.stringContaining('Speak plainly.') },
    ])
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
      'session_start',
      'work_next',
    ])
    const { messages } = await client.getPrompt({ name: 'session_start' })
    expect(messages).toMatchObject([{ content: { text: expect.stringContaining('Speak plainly.') } }])
  })
})

describe('the scopes of a key', () => {
  test.each([
    ['rules:read', ['get_context', 'get_rules']],
    ['rules:write', ['create_rule', 'update_rule']],
    ['tasks:read', ['list_tasks', 'get_task']],
    ['tasks:write', ['create_task', 'update_task', 'claim_task', 'add_comment']],
  ])('apply to every tool, and those of others are not listed: %s', async (scope, allowed) => {
    const { key } = await givenProjectWithKey(service, [scope])
    const client = await connect({ key })
    const calls: Record<string, Record<string, unknown>> = {
      create_rule: { content: 'A' },
      update_rule: { id: UNKNOWN_ID, isActive: false },
      get_task: { id: UNKNOWN_ID },
      create_task: { title: 'A' },
      update_task: { id: UNKNOWN_ID, status: 'done' },
      add_comment: { id: UNKNOWN_ID, body: 'A' },
    }

    for (const name of NAMES) {
      const { text } = await callTool(client, name, calls[name] ?? {})
      expect([name, text.includes('insufficient_scope')]).toEqual([name, !allowed.includes(name)])
    }
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(allowed)
  })

  test('leave no tool to a key for something else', async () => {
    const { key } = await givenProjectWithKey(service, ['activity:write'])
    expect((await (await connect({ key })).listTools()).tools).toEqual([])
  })

  test('apply to the resource and the prompt', async () => {
    const client = await connect({ key: (await givenProjectWithKey(service, ['tasks:read'])).key })

    await expect(client.readResource({ uri: 'inlet://rules' })).rejects.toThrow('rules:read')
    await expect(client.getPrompt({ name: 'session_start' })).rejects.toThrow('rules:read')
    await expect(client.getPrompt({ name: 'work_next' })).rejects.toThrow('tasks:write')
  })

  test('exclude the tasks from the context without tasks:read', async () => {
    const { key, inbox } = await givenProjectWithKey(service, ['rules:read'])
    await service.given.task(inbox, { title: 'Not for you' })

    const { data, text } = await callTool(await connect({ key }), 'get_context')

    expect(data).not.toHaveProperty('tasks')
    expect(JSON.stringify(data) + text).not.toContain('Not for you')
  })

  test('and its project apply to rules: 403 for a global one, 404 for another project’s', async () => {
    const [mine, theirs] = [await givenProjectWithKey(service), await givenProjectWithKey(service)]
    const everywhere = (await service.post('/api/rules', { content: 'Global' })).body
    const other = (await service.post('/api/rules', { content: 'A' }, { key: theirs.key })).body
    const client = await connect({ key: mine.key })

    const refused = await callTool(client, 'update_rule', { id: everywhere.id, isActive: false })
    const unseen = await callTool(client, 'update_rule', { id: other.id, isActive: false })
    const global = await callTool(client, 'create_rule', { content: 'A', projectId: null })

    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('insufficient_scope') })
    expect(unseen).toMatchObject({ isError: true, text: expect.stringContaining('rule_not_found') })
    expect(global).toMatchObject({ isError: true, text: expect.stringContaining('insufficient_scope') })
    await service.delete(`/api/rules/${everywhere.id}`)
  })
})
