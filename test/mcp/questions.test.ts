import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

async function givenWork(kind?: keyof typeof CLIENTS) {
  const { key, inbox } = await givenProjectWithKey(service)
  const first = await service.given.task(inbox, { title: 'A crash', priority: 3 })
  const second = await service.given.task(inbox, { title: 'Another' })
  const client = await connect({ key, kind })
  const call = (name: string, args?: Record<string, unknown>) => callTool(client, name, args)
  return { key, first, second, client, call }
}

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (kind) => {
  test('asks, goes on with the next task, and gets the first one again with its answer', async () => {
    const { first, second, call } = await givenWork(kind)
    await call('claim_task')

    const asked = await call('add_comment', { id: first.id, body: 'Drafts, too?', needsAnswer: true })
    const next = await call('claim_task')

    expect([asked.isError, asked.text]).toEqual([false, expect.stringContaining('waits for an answer')])
    expect(next.data.id).toBe(second.id)
    expect((await call('get_task', { id: first.id })).data).toMatchObject({
      status: 'open',
      isReady: false,
      question: { commentId: asked.data.id, askedBy: { type: 'assistant' } },
    })
    expect((await call('list_tasks', { needsAnswer: true })).data.data).toMatchObject([{ id: first.id }])
    expect((await call('claim_task')).data.claim).toBeNull()
    const refused = await call('claim_task', { id: first.id })
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('answer')])

    await service.post(`/api/tasks/${first.id}/comments`, { body: 'Yes.' })
    const again = await call('claim_task')

    expect(again.data).toMatchObject({ id: first.id, claim: { number: 2 } })
    const { data } = await call('get_task', { id: first.id })
    expect(data).not.toHaveProperty('question')
    expect(data.comments.map(({ body }: { body: string }) => body)).toEqual(['Drafts, too?', 'Yes.'])
  })
})

test('an assistant is told to ask when it connects, and by the prompt', async () => {
  const { client } = await givenWork()
  const { messages } = await client.getPrompt({ name: 'work_next' })
  expect(client.getInstructions()).toMatch(/needsAnswer/)
  expect(JSON.stringify(messages)).toMatch(/needsAnswer true[\s\S]*step 2/)
})

test('an assistant without an answer of its own leaves the question of another one', async () => {
  const { first, call } = await givenWork()
  const another = await connect({ key: await service.given.key({ scopes: ['tasks:read', 'tasks:write'] }) })
  const asked = await call('add_comment', { id: first.id, body: 'Drafts, too?', needsAnswer: true })

  await callTool(another, 'add_comment', { id: first.id, body: 'I think so.' })
  const empty = await call('add_comment', { id: first.id, body: ' ', needsAnswer: true })

  expect(empty.isError).toBe(true)
  expect(await service.task(first.id)).toMatchObject({
    question: { commentId: asked.data.id },
    commentCount: 2,
  })
})
