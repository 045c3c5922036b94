import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { feedback, storing } from '../support/feedback.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { person, type SignedIn } from '../support/people.ts'
import { sourceOf } from '../support/sources.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
let ada: SignedIn
beforeAll(async () => {
  service = await startSyncing()
  ada = await person(service, { name: 'Ada' })
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

const read = async (id: string) => (await service.get(`/api/tasks/${id}`)).body
const isTriaged = async (id: string) => (await read(id)).triaged

/** A task that arrived over the API, in a project of its own. */
async function arrived(values: object = {}) {
  const { id: projectId, inbox } = await service.given.project()
  const { body } = await service.post('/api/tasks', { title: 'Crash', listId: inbox.id, ...values })
  return { ...body, projectId, inbox }
}

describe('a task is to be triaged', () => {
  test('if a key creates it, alone or with others, unless it says otherwise', async () => {
    const { id, inbox } = await arrived()
    expect(await isTriaged(id)).toBe(false)
    expect((await arrived({ triaged: true })).triaged).toBe(true)
    const tasks = [{ title: 'a' }, { title: 'b', triaged: true }]
    const { body } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    expect(body.data.map(({ triaged }: { triaged: boolean }) => triaged)).toEqual([false, true])
  })

  test('if it is feedback, or a source sends it', async () => {
    await (await storing(service, feedback({ note: 'It arrives' })))()
    const { body } = await service.get('/api/tasks?source=analytics')
    expect(body.data[0].triaged).toBe(false)
    const { send } = await sourceOf(service)
    expect(await isTriaged((await send({ title: 'A form' })).body.taskId)).toBe(false)
  })

  test('if the host has it since the first run, which brings what was there before', async () => {
    const { project, repository, sync } = await service.connected()
    repository.issue()
    await sync()
    repository.issue()
    await sync()
    const tasks = await service.tasksOf(project.id)
    expect([tasks.get(1)?.triaged, tasks.get(2)?.triaged]).toEqual([true, false])
  })

  test('if the host reports it before the first run, and has opened it since', async () => {
    const { project, repository } = await service.connected()
    await service.query(
      `update codehost_connections set connected_at = now() - interval '1 day' where project_id = $1`,
      [project.id],
    )
    repository.issue({ createdAt: Date.now() - 3_600_000 })
    repository.issue({ createdAt: Date.parse('2020-01-01') })
    await service.post(`/api/codehost/${project.id}/sync`, undefined, { headers: { prefer: 'wait=60' } })
    const tasks = await service.tasksOf(project.id)
    expect([tasks.get(1)?.triaged, tasks.get(2)?.triaged]).toEqual([false, true])
  })

  test('not if a person creates it, or an assistant', async () => {
    const { inbox } = await arrived()
    const { body } = await service.post('/api/tasks', { title: 'By hand', listId: inbox.id }, ada.with)
    expect(body.triaged).toBe(true)
    const made = await callTool(await connect(), 'create_task', { title: 'Found', listId: inbox.id })
    expect(await isTriaged(made.data.id)).toBe(true)
  })
})

describe('somebody decides about a task', () => {
  const accepted = async (decide: (id: string) => Promise<unknown>) => {
    const { id } = await arrived()
    await decide(id)
    expect(await isTriaged(id)).toBe(true)
  }

  test.each([
    ['a status', { status: 'in_progress' }],
    ['a priority', { priority: 'high' }],
    ['labels', { labels: ['bug'] }],
    ['assignees', { assignees: ['ada'] }],
    ['saying so', { triaged: true }],
  ])('with %s, alone or of many', async (_, change) => {
    await accepted((id) => service.patch(`/api/tasks/${id}`, change))
    await accepted((id) => service.patch('/api/tasks/bulk', { ids: [id], change }))
  })

  test('with a list, a comment, or a claim', async () => {
    const { body: list } = await service.post(`/api/projects/${(await arrived()).projectId}/lists`, {
      name: 'B',
    })
    await accepted((id) => service.patch(`/api/tasks/${id}`, { listId: list.id }))
    await accepted((id) => service.post(`/api/tasks/${id}/comments`, { body: 'Seen' }))
    await accepted((id) => service.post(`/api/tasks/${id}/claim`))
  })

  test('which is logged where it is said, with the change that it follows from otherwise', async () => {
    const { id } = await arrived()
    await service.patch(`/api/tasks/${id}`, { triaged: true })
    await service.patch(`/api/tasks/${id}`, { priority: 'high', triaged: false })
    await service.patch(`/api/tasks/${id}`, { priority: 'low' })
    const log = await service.query(
      `select metadata -> 'changes' as changes from activity where task_id = $1 and type = 'task.updated' order by id`,
      [id],
    )
    expect(log.map(({ changes }) => changes)).toEqual([
      { triaged: { from: false, to: true } },
      { priority: { from: 'medium', to: 'high' }, triaged: { from: true, to: false } },
      { priority: { from: 'high', to: 'low' } },
    ])
  })

  test('not with a title, a description, notes, or nothing', async () => {
    const { id, title } = await arrived()
    for (const change of [{ title }, { title: 'Crash at start' }, { description: 'd' }, { notes: 'n' }])
      await service.patch(`/api/tasks/${id}`, change)
    expect(await isTriaged(id)).toBe(false)
  })

  test('unless the change says otherwise, whatever is stored', async () => {
    const { id } = await arrived()
    const change = { priority: 'high', triaged: false }
    expect((await service.patch(`/api/tasks/${id}`, change)).body).toMatchObject(change)
    const { id: other } = await arrived({ triaged: true })
    await service.patch('/api/tasks/bulk', { ids: [id, other], change: { ...change, priority: 'low' } })
    expect([await isTriaged(id), await isTriaged(other)]).toEqual([false, false])
    // What the host closed, before anybody had decided.
    await service.query(`update tasks set status = 'done', completed_at = now() where id = $1`, [id])
    const opened = await service.patch(`/api/tasks/${id}`, { status: 'open', triaged: false })
    expect(opened.body).toMatchObject({ status: 'open', triaged: false })
  })

  test('also while another change is decided', async () => {
    const { id } = await arrived()
    for (let round = 0; round < 10; round++) {
      await service.query('update tasks set triaged = false where id = $1', [id])
      const changes = [0, 1, 2].map((n) => service.patch(`/api/tasks/${id}`, { notes: `${round} ${n}` }))
      await Promise.all([...changes, service.post(`/api/tasks/${id}/comments`, { body: 'Seen' })])
      expect([round, await isTriaged(id)]).toEqual([round, true])
    }
  })

  test('and takes it back together with the change', async () => {
    const { id } = await arrived()
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect((await service.patch(`/api/tasks/${id}`, { status: 'open', triaged: false })).body).toMatchObject({
      status: 'open',
      triaged: false,
    })
  })
})

describe('a task that is done', () => {
  test('counts as triaged, and a change that says otherwise is none', async () => {
    const { id } = await arrived()
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    const { body } = await service.patch(`/api/tasks/${id}`, { triaged: false })
    expect(body).toMatchObject({ triaged: true, version: 2 })
  })

  test('is to be triaged again if a source or a key reopens it, not if a person does', async () => {
    const { send } = await sourceOf(service, {
      template: { externalId: '{{ item.id }}', status: '{{ item.state }}' },
    })
    const { taskId } = (await send({ title: 'Alert', id: '1', state: 'open' })).body
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    await send({ title: 'Alert', id: '1', state: 'open' }, { id: 'again' })
    expect(await read(taskId)).toMatchObject({ status: 'open', triaged: false })

    const { id, inbox } = await arrived({ externalId: 'x' })
    const again = { title: 'Crash', listId: inbox.id, externalId: 'x', priority: 'high' }
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await service.post('/api/tasks?onExisting=update&reopen=true', again)
    expect(await read(id)).toMatchObject({ status: 'open', priority: 'high', triaged: false })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await service.post('/api/tasks?onExisting=update&reopen=true', { ...again, triaged: true })
    expect(await read(id)).toMatchObject({ status: 'open', triaged: true })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await service.patch(`/api/tasks/${id}`, { status: 'open' }, ada.with)
    expect(await isTriaged(id)).toBe(true)
  })

  test('is to be triaged again if the host reopens it', async () => {
    const { project, repository, sync } = await service.connected()
    repository.issue({ state: 'closed' })
    await sync()
    repository.change(1, { state: 'open' })
    await sync()
    expect((await service.tasksOf(project.id)).get(1)).toMatchObject({ status: 'open', triaged: false })
    repository.change(1, { labels: ['bug'] })
    await service.patch('/api/tasks/bulk', {
      ids: [(await service.tasksOf(project.id)).get(1)?.id],
      change: { triaged: true },
    })
    await sync()
    expect((await service.tasksOf(project.id)).get(1)).toMatchObject({ labels: ['bug'], triaged: true })
  })

  test('stays triaged once its merge is taken back, which was a decision', async () => {
    const { id, inbox } = await arrived()
    const { body: target } = await service.post('/api/tasks', { title: 'Crash', listId: inbox.id })
    await service.post(`/api/tasks/${id}/merge`, { into: target.id })
    expect([await isTriaged(id), await isTriaged(target.id)]).toEqual([true, false])
    await service.post(`/api/tasks/${id}/unmerge`)
    expect(await isTriaged(id)).toBe(true)
  })

  test('is to be triaged if its merge on arrival is taken back', async () => {
    const { id: projectId } = await service.given.project({ groupFeedback: 'auto' })
    await service.post('/api/webhook-routing', { appMatch: 'com.grouped', targetProjectId: projectId })
    for (const at of ['08:00', '09:00']) {
      const event = feedback(
        { note: 'The export never ends', bundle_id: 'com.grouped' },
        {
          timestamp: `2026-11-21T${at}:00.000Z`,
        },
      )
      await (await storing(service, event))()
    }
    const { body } = await service.get(`/api/tasks?projectId=${projectId}&status=done`)
    await service.post(`/api/tasks/${body.data[0].id}/unmerge`)
    expect(await read(body.data[0].id)).toMatchObject({ status: 'open', triaged: false })
  })
})

describe('a project without triage', () => {
  test('has all that arrives triaged, at once on each way', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const create = async (values: object = {}) =>
      (await service.post('/api/tasks', { title: 'Crash', listId: inbox.id, ...values })).body
    const before = await create()
    expect((await service.patch(`/api/projects/${projectId}`, { triage: 'off' })).body.triage).toBe('off')
    expect([before.triaged, (await create()).triaged, (await create({ triaged: false })).triaged]).toEqual([
      false,
      true,
      true,
    ])
    const { send } = await sourceOf(service, { projectId })
    expect(await isTriaged((await send({ title: 'A form' })).body.taskId)).toBe(true)
    await service.patch(`/api/projects/${projectId}`, { triage: 'on' })
    const stored = await create()
    expect([stored.triaged, await isTriaged(stored.id)]).toEqual([false, false])
  })

  test('is told from one with triage by each caller, also where they share a statement', async () => {
    const { id: projectId, inbox } = await service.given.project({ triage: 'off' })
    const key = await service.given.key({ projectId })
    const keyed = { headers: { 'idempotency-key': `triage-${projectId}` } }
    const create = (options: object = {}) =>
      service.post('/api/tasks', { title: 'Crash', listId: inbox.id }, options)
    // Each remembers the list.
    await Promise.all([create(), create({ key })])
    await service.patch(`/api/projects/${projectId}`, { triage: 'on' })
    // Only one of them hears of the change.
    await create()
    const made = await Promise.all([create(), create({ key }), create(keyed), create({ key })])
    expect(made.map(({ body }) => body.triaged)).toEqual([false, false, false, false])
    for (const { body } of made) expect(await isTriaged(body.id)).toBe(false)
  })
})
