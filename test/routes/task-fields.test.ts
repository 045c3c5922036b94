import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../../src/domain/task-fields.ts'
import type { FieldError } from '../../src/errors/index.ts'
import { type NewTaskInBulk, TaskChange } from '../../src/schemas/task-requests.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool, mcpConnections } from '../support/mcp-clients.ts'

/*
 * Each field that a create and a change accept, over every interface. Blockers are in `dependencies.test.ts`, questions in
 * `questions.test.ts`.
 */

type Field = Exclude<keyof NewTaskInBulk & keyof TaskChange, 'blockedBy'>

/** Two values of each field, and one that is refused. */
const FIELDS: Record<Field, { values: [unknown, unknown]; invalid: unknown }> = {
  title: { values: ['A crash', 'Another crash'], invalid: ' ' },
  description: { values: ['## Steps', 'None.'], invalid: 5 },
  priority: { values: ['high', 'low'], invalid: 'urgent' },
  externalUrl: { values: ['https://a.example/1', 'http://b.example/2?c=d'], invalid: 'ftp://a.example' },
  labels: { values: [['crash', 'ünï'], []], invalid: [''] },
  assignees: { values: [['ada'], ['grace', 'ada']], invalid: ['x'.repeat(101)] },
  metadata: { values: [{ a: [1] }, {}], invalid: [] },
  triaged: { values: [true, false], invalid: 'yes' },
  snoozedUntil: {
    values: ['2100-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    invalid: '2026-01-01T00:00:00.000Z',
  },
}

/** Assistants have no use for it. */
const FOR_TOOLS = Object.entries(FIELDS).filter(([name]) => name !== 'metadata')
/** An assistant decides about what it creates. */
const NOT_CREATED = ['triaged', 'snoozedUntil']
const CLEARED = Object.entries(TaskChange.properties)
  .filter(([name, { type }]) => [type].flat().includes('null') && name !== 'question')
  .map(([name]) => name)

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

const read = async (id: string) => (await service.get(`/api/tasks/${id}`)).body

describe.each(Object.entries(FIELDS))('%s', (name, { values: [first, second], invalid }) => {
  test('is kept by a create and a bulk create, and returned by every read', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const task = { title: 'A task', [name]: first }

    const { status, body: alone } = await service.post('/api/tasks', { ...task, listId: inbox.id })

    expect([status, alone[name]]).toEqual([201, first])
    expect(await read(alone.id)).toEqual(alone)
    expect((await service.get(`/api/tasks?projectId=${projectId}`)).body.data).toEqual([alone])
    const csv = await service.get(`/api/tasks?projectId=${projectId}`, { headers: { accept: 'text/csv' } })
    expect(csv.body.split('\r\n')[0].split(',')).toContain(name)

    const { body: bulk } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks: [task] })
    expect((await read(bulk.data[0].id))[name]).toEqual(first)
    expect(name in bulk.data[0]).toBe(!isLong(name))
  })

  test('is changed by a change and by a bulk change, which log it', async () => {
    const { body: made } = await service.post('/api/tasks', { title: 'A task', [name]: first })

    const changed = await service.patch(`/api/tasks/${made.id}`, { [name]: second })
    const bulk = await service.patch('/api/tasks/bulk', { ids: [made.id], change: { [name]: first } })

    expect([changed.status, changed.body[name]]).toEqual([200, second])
    expect([bulk.status, bulk.body.unchanged]).toEqual([200, 0])
    expect(await read(made.id)).toMatchObject({ [name]: first, version: 3 })
    const logged = await service.query(
      `select metadata->'changes' as changes from activity where task_id = $1 and type = 'task.updated' order by id`,
      [made.id],
    )
    const difference = (from: unknown, to: unknown) => (isLong(name) ? 'changed' : { from, to })
    expect(logged.map(({ changes }) => changes)).toEqual([
      { [name]: difference(first, second) },
      { [name]: difference(second, first) },
    ])
  })

  test('is refused by name', async () => {
    const { body: made } = await service.post('/api/tasks', { title: 'A task' })

    const refused = [
      await service.post('/api/tasks', { title: 'A task', [name]: invalid }),
      await service.patch(`/api/tasks/${made.id}`, { [name]: invalid }),
    ]

    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([400, 'validation_failed'])
      const paths = body.errors.map(({ path }: FieldError) => path.split('/')[1])
      expect(paths).toEqual([name])
    }
  })
})

test.each(FOR_TOOLS)('%s is set and changed by an assistant', async (name, { values: [first, second] }) => {
  const client = await connect()

  const isCreated = !NOT_CREATED.includes(name)
  const made = await callTool(client, 'create_task', { title: 'A task', ...(isCreated && { [name]: first }) })
  if (isCreated) expect((await read(made.data.id))[name]).toEqual(first)

  const { isError } = await callTool(client, 'update_task', { id: made.data.id, [name]: second })
  expect(isError).toBe(false)
  expect((await read(made.data.id))[name]).toEqual(second)
})

describe.each(CLEARED)('null clears %s', (name) => {
  const value = (FIELDS as Record<string, { values: unknown[] }>)[name]?.values[0] ?? 'Something'

  async function givenTask() {
    const { body } = await service.post('/api/tasks', { title: 'A task' })
    await service.patch(`/api/tasks/${body.id}`, { [name]: value })
    expect((await read(body.id))[name]).toEqual(value)
    return body.id
  }

  test('in a change, and in a bulk change', async () => {
    const ids = [await givenTask(), await givenTask()]

    await service.patch(`/api/tasks/${ids[0]}`, { [name]: null })
    await service.patch('/api/tasks/bulk', { ids: [ids[1]], change: { [name]: null } })

    expect([(await read(ids[0]))[name], (await read(ids[1]))[name]]).toEqual([null, null])
  })

  test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
    'for an assistant, as the schema of its tool says: %s',
    async (kind) => {
      const client = await connect({ kind })
      const { tools } = await client.listTools()
      const tool = tools.find((tool) => tool.name === 'update_task')
      // The description of a task that a key made is read-only for assistants.
      const { id } = (await callTool(client, 'create_task', { title: 'A task' })).data
      await callTool(client, 'update_task', { id, [name]: value })
      expect((await read(id))[name]).toEqual(value)

      const { isError } = await callTool(client, 'update_task', { id, [name]: null })

      expect(tool?.inputSchema.properties?.[name]).toMatchObject({
        anyOf: [{ type: expect.any(String) }, { type: 'null' }],
      })
      expect([isError, (await read(id))[name]]).toEqual([false, null])
    },
  )
})
