import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS, callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

async function givenWork(kind?: keyof typeof CLIENTS) {
  const { key, inbox } = await givenProjectWithKey(service)
  const task = await service.given.task(inbox, { title: 'A crash', description: 'It crashes.' })
  const client = await connect({ key, kind })
  // The clients check structured content against the output schemas that they have seen.
  await client.listTools()
  const call = (name: string, args?: Record<string, unknown>) => callTool(client, name, args)
  return { key, inbox, task, client, call }
}

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (kind) => {
  test('claims a task, updates it, comments, and completes it', async () => {
    const { task, key, client, call } = await givenWork(kind)

    const { messages } = await client.getPrompt({ name: 'work_next' })
    const context = await call('get_context')
    const claimed = await call('claim_task')
    const { number } = claimed.data.claim
    const noted = await call('update_task', {
      id: task.id,
      claimNumber: number,
      version: claimed.data.version,
      notes: 'Found it.',
    })
    const comment = await call('add_comment', { id: task.id, body: 'Fixed in 2.3.2.' })
    const done = await call('update_task', {
      id: task.id,
      claimNumber: number,
      version: noted.data.version,
      status: 'done',
    })
    const none = await call('claim_task')

    expect(JSON.stringify(messages)).toMatch(/claim_task[\s\S]*add_comment[\s\S]*done[\s\S]*release/)
    expect(context.data.tasks.recent).toMatchObject([{ id: task.id, isReady: true }])
    expect(claimed.data).toMatchObject({
      id: task.id,
      status: 'in_progress',
      description: 'It crashes.',
      claim: { by: { type: 'assistant' }, number: 1, expiresAt: expect.any(String) },
    })
    expect(claimed.text).toMatch(/claimNumber 1, until /)
    for (const { isError } of [noted, comment, done]) expect(isError).toBe(false)
    expect(none).toMatchObject({ isError: false, data: { claim: null } })
    expect((await service.get(`/api/tasks/${task.id}`, { key })).body).toMatchObject({
      status: 'done',
      notes: 'Found it.',
      commentCount: 1,
      claim: null,
    })
  })

  test('renews a claim and gives it back', async () => {
    const { task, call } = await givenWork(kind)

    const claimed = await call('claim_task', { id: task.id, leaseSeconds: 30 })
    const held = { id: task.id, claimNumber: claimed.data.claim.number }
    const renewed = await call('claim_task', { action: 'renew', ...held, leaseSeconds: 3_600 })
    const released = await call('claim_task', { action: 'release', ...held })

    expect(Date.parse(renewed.data.claim.expiresAt)).toBeGreaterThan(Date.parse(claimed.data.claim.expiresAt))
    expect(renewed.data).not.toHaveProperty('description')
    expect(released.data).toMatchObject({ id: task.id, status: 'open', claim: null })
    expect((await call('claim_task')).data.claim.number).toBe(2)
  })
})

describe('a claimed task', () => {
  test('is not changed without its claim, and the error says what to do', async () => {
    const { task, call } = await givenWork()
    await call('claim_task')

    const unnamed = await call('update_task', { id: task.id, status: 'done' })
    const stale = await call('update_task', { id: task.id, status: 'done', claimNumber: 7 })

    expect(unnamed).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^task_claimed: .*claimNumber/),
    })
    expect(stale).toMatchObject({ isError: true, text: expect.stringMatching(/^claim_lost: [\s\S]*Stop/) })
    expect((await call('get_task', { id: task.id })).data).toMatchObject({
      status: 'in_progress',
      version: 2,
    })
  })

  test('is not claimed by another key', async () => {
    const { task, call } = await givenWork()
    await call('claim_task')
    const other = await connect({ key: await service.given.key({ projectId: task.projectId }) })

    const refused = await callTool(other, 'claim_task', { id: task.id })
    const next = await callTool(other, 'claim_task')
    const renewed = await callTool(other, 'claim_task', { action: 'renew', id: task.id, claimNumber: 1 })

    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^task_claimed: /) })
    expect(next.data.claim).toBeNull()
    expect(renewed).toMatchObject({ isError: true, text: expect.stringMatching(/^claim_lost: /) })
  })

  test('is shown as not ready in lists, and its claim by get_task', async () => {
    const { task, inbox, call } = await givenWork()
    await service.given.task(inbox, { title: 'Ready' })
    await call('claim_task', { id: task.id })

    const ready = await call('list_tasks', { isReady: true })

    expect(ready.data.data).toMatchObject([{ title: 'Ready', isReady: true }])
    expect((await call('get_task', { id: task.id })).data.claim).toMatchObject({ number: 1 })
  })
})

describe('a claim whose response was lost', () => {
  test('is found in the list, and goes on with its number', async () => {
    const { task, inbox, call } = await givenWork()
    await service.given.task(inbox, { title: 'Nobody works on this' })
    await call('claim_task', { id: task.id })

    const claimed = await call('list_tasks', { claimed: true, sort: '-updatedAt' })
    const again = await call('claim_task', { id: claimed.data.data[0].id })

    expect(claimed.data.data).toMatchObject([{ id: task.id, status: 'in_progress' }])
    expect(again).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^task_claimed: .*with your key.*go on with claimNumber 1\b/),
    })
    expect((await call('update_task', { id: task.id, claimNumber: 1, status: 'done' })).isError).toBe(false)
  })

  test('of another key has no number, nor one that a person made with the same key', async () => {
    const { task, key, call } = await givenWork()
    const session = await service.post('/api/sessions', { key }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const headers = { cookie, origin: service.url }
    for (const options of [{}, { key: null, headers }]) {
      const { body } = await service.post(`/api/tasks/${task.id}/claim`, undefined, options)
      expect(body.claim.number).toBeGreaterThan(0)

      const { text } = await call('claim_task', { id: task.id })

      expect(text).toMatch(/^task_claimed: /)
      expect(text).not.toContain('claimNumber')
      await service.patch(`/api/tasks/${task.id}`, { status: 'open' })
    }
  })
})

describe('claim_task', () => {
  test('claims the first ready task that matches the filters', async () => {
    const { inbox, call } = await givenWork()
    await service.given.task(inbox, { title: 'Urgent', priority: 3 })
    await service.given.task(inbox, { title: 'Labelled', labels: ['docs'] })

    expect((await call('claim_task', { label: 'docs' })).data.title).toBe('Labelled')
    expect((await call('claim_task')).data.title).toBe('Urgent')
    expect((await call('claim_task', { label: 'docs' })).text).toMatch(/^No task/)
  })

  test.each([
    [{ action: 'renew' }, ['id is required', 'claimNumber is required']],
    [{ action: 'release', id: UNKNOWN_ID }, ['claimNumber is required']],
    [{ action: 'take' }, ['action must be one of claim, renew, release']],
    [{ id: UNKNOWN_ID, label: 'docs' }, ['label selects the next ready task']],
    [
      { action: 'renew', id: UNKNOWN_ID, claimNumber: 1, label: 'docs' },
      ['label selects the next ready task'],
    ],
    [{ id: UNKNOWN_ID, claimNumber: 1 }, ['claimNumber is only for renew and release']],
    [{ leaseSeconds: 29 }, ['leaseSeconds must be >= 30']],
    [{ id: UNKNOWN_ID }, ['task_not_found']],
  ])('refuses arguments that do not belong together: %j', async (args, messages) => {
    const { call } = await givenWork()

    const { isError, text } = await call('claim_task', args)

    expect(isError).toBe(true)
    for (const message of messages) expect(text).toContain(message)
  })

  test('returns the claim to a key without tasks:read, and nothing else of the task', async () => {
    const { inbox, id } = await givenProjectWithKey(service)
    await service.given.task(inbox, { title: 'Secret' })
    const client = await connect({ key: await service.given.key({ projectId: id, scopes: ['tasks:write'] }) })

    const { data, text } = await callTool(client, 'claim_task')

    expect(Object.keys(data).sort()).toEqual(['claim', 'id', 'version'])
    expect(text).toContain('claimNumber 1')
    expect(text).not.toContain('Secret')
  })
})

describe('a change with the version that was read', () => {
  test('is refused after another change, with the way to go on', async () => {
    const { task, call } = await givenWork()
    await service.patch(`/api/tasks/${task.id}`, { priority: 'high' })

    const refused = await call('update_task', { id: task.id, version: 1, status: 'done' })

    expect(refused.isError).toBe(true)
    expect(refused.text).toMatch(/^version_mismatch: .*its version is now 2[\s\S]*get_task/)
    expect((await call('update_task', { id: task.id, version: 2, status: 'done' })).isError).toBe(false)
  })
})
