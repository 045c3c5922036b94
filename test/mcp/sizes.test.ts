import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/domain/context-budget.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

/*
 * What the tools take of a model's window. Some clients give it the structured content, some the text, and some both, so
 * each has to be small by itself.
 */

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

/** Characters, which the limits are in. */
const lengthOf = (text: string) => [...text].length

describe('the definitions of all tools', () => {
  test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
    'have at most 12,000 characters together: %s',
    async (kind) => {
      const { tools } = await (await connect({ kind })).listTools()

      expect(lengthOf(JSON.stringify(tools))).toBeLessThanOrEqual(12_000)
      for (const { name, description = '' } of tools) {
        // Long enough to say when to use it and what it returns.
        expect([name, description.length > 100, description.length < 500]).toEqual([name, true, true])
      }
    },
  )
})

describe('a page of 20 tasks', () => {
  test.each([
    ['short', 'Crash when saving', ['crash']],
    [
      'usual',
      'The export of a project with many lists takes longer than the gateway waits',
      ['export', 'slow'],
    ],
    [
      'as long as possible',
      '<😀>'.repeat(166),
      Array.from({ length: 20 }, (_, n) => `${n} ${'`'.repeat(90)}`),
    ],
  ])('has at most 4,000 characters in each form: %s texts', async (_, title, labels) => {
    const { key, id } = await givenProjectWithKey(service)
    const list = await service.given.list(id, { name: '<User feedback>'.repeat(6) })
    for (let n = 0; n < 21; n++)
      await service.given.task(list, { title, labels, codehostNumber: 1_000_000 + n, codehostKind: 'issue' })

    const { data, text } = await callTool(await connect({ key }), 'list_tasks', { sort: '-updatedAt' })

    expect(data.data).toHaveLength(20)
    expect(data.nextCursor).not.toBeNull()
    expect(text).toContain(data.nextCursor)
    expect(lengthOf(JSON.stringify(data))).toBeLessThanOrEqual(4_000)
    expect(lengthOf(text)).toBeLessThanOrEqual(4_000)
    const [first] = data.data
    expect(first.title.startsWith(title.slice(0, 3))).toBe(true)
    expect(first).toMatchObject({ id: expect.any(String), number: expect.any(Number), status: 'open' })
  })

  test('goes on with its cursor', async () => {
    const { key, inbox } = await givenProjectWithKey(service)
    for (let n = 0; n < 25; n++) await service.given.task(inbox, { title: `Task ${n}` })
    const client = await connect({ key })

    const first = await callTool(client, 'list_tasks')
    const second = await callTool(client, 'list_tasks', { cursor: first.data.nextCursor })

    expect(second.data).toMatchObject({ nextCursor: null })
    const titles = [...first.data.data, ...second.data.data].map(({ title }: { title: string }) => title)
    expect(titles).toEqual(Array.from({ length: 25 }, (_, n) => `Task ${24 - n}`))
    expect(first.data.data[0]).toMatchObject({ list: 'Inbox', priority: 'medium' })
  })
})

describe('a task', () => {
  async function givenLongTask() {
    const { key, inbox } = await givenProjectWithKey(service)
    const long = '<😀> '.repeat(10_000)
    const task = await service.given.task(inbox, { title: 'Long', description: long, notes: long })
    for (let n = 0; n < 3; n++) await service.post(`/api/tasks/${task.id}/comments`, { body: long })
    return { task, long, client: await connect({ key }) }
  }

  test('has at most 4,000 tokens in each form, and names what was cut', async () => {
    const { task, client } = await givenLongTask()

    const { data, text } = await callTool(client, 'get_task', { id: task.id })

    expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(4_000)
    expect(estimateTokens(text)).toBeLessThanOrEqual(4_000)
    expect(data.cut).toEqual(['description', 'notes', 'comments'])
    expect(text).toContain('Cut: description, notes, comments.')
  })

  test('has as many tokens as requested', async () => {
    const { task, long, client } = await givenLongTask()

    const small = await callTool(client, 'get_task', { id: task.id, budgetTokens: 600 })
    const whole = await callTool(client, 'get_task', { id: task.id, budgetTokens: 1_000_000 })

    expect(estimateTokens(small.text)).toBeLessThanOrEqual(600)
    expect(estimateTokens(JSON.stringify(small.data))).toBeLessThanOrEqual(600)
    expect(whole.data).toMatchObject({ description: long, notes: long })
    expect(whole.data).not.toHaveProperty('cut')
  })

  test('is not repeated with its texts after a change', async () => {
    const { task, client } = await givenLongTask()

    const { data, text } = await callTool(client, 'update_task', { id: task.id, priority: 'high' })

    expect(data).toMatchObject({ id: task.id, title: 'Long', priority: 'high', version: 2 })
    expect(Math.max(JSON.stringify(data).length, text.length)).toBeLessThan(1_500)
  })
})

describe('a context', () => {
  test('has at most as many tokens as requested, in each form', async () => {
    const { key, inbox } = await givenProjectWithKey(service)
    const rules = Array.from({ length: 30 }, (_, n) => ({ content: `Rule ${n} ${'<ü😀>'.repeat(20)}` }))
    await Promise.all(rules.map((rule) => service.post('/api/rules', rule, { key })))
    for (let n = 0; n < 10; n++) await service.given.task(inbox, { title: `Task ${n} ${'<ü😀>'.repeat(20)}` })
    const client = await connect({ key })

    for (const budgetTokens of [800, 1_500, 4_000]) {
      const { data, text } = await callTool(client, 'get_context', { budgetTokens })

      expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(budgetTokens)
      expect(estimateTokens(text)).toBeLessThanOrEqual(budgetTokens)
      expect(data.instructions.length).toBeGreaterThan(0)
    }
  })

  test('has its latest tasks as short as a list', async () => {
    const { key, inbox } = await givenProjectWithKey(service)
    await service.given.task(inbox, { title: 'A crash' })

    const { data } = await callTool(await connect({ key }), 'get_context')

    expect(data.tasks.recent).toEqual([
      {
        id: expect.any(String),
        title: 'A crash',
        status: 'open',
        priority: 'medium',
        isReady: true,
        list: 'Inbox',
      },
    ])
  })
})
