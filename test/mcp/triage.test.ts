import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

test('an assistant lists what is to be triaged, and what it makes or changes is triaged', async () => {
  const { key, inbox } = await givenProjectWithKey(service)
  const send = (title: string) => service.post('/api/tasks', { listId: inbox.id, title }, { key })
  const [received, snoozed] = [(await send('Received')).body.id, (await send('Snoozed')).body.id]
  const snoozedUntil = new Date(Date.now() + 3_600_000).toISOString()
  await service.patch(`/api/tasks/${snoozed}`, { snoozedUntil, triaged: false }, { key })
  const client = await connect({ key })
  const list = async (filter: Record<string, unknown>) => {
    const { data } = await callTool(client, 'list_tasks', filter)
    return data.data.map(({ title }: { title: string }) => title).toSorted()
  }
  await callTool(client, 'create_task', { listId: inbox.id, title: 'Made by an assistant' })

  expect(await list({ triaged: false })).toEqual(['Received', 'Snoozed'])
  expect(await list({ triaged: false, snoozed: false })).toEqual(['Received'])
  expect(await list({ snoozed: true })).toEqual(['Snoozed'])

  await callTool(client, 'update_task', { id: received, priority: 'high' })
  expect(await list({ triaged: false, snoozed: false })).toEqual([])
  expect(await list({ triaged: true })).toEqual(['Made by an assistant', 'Received'])
})
