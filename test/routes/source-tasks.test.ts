import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { inboxOf, type SentSource, sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const template = { title: '{{ item.title }}', externalId: '{{ item.id }}', status: '{{ item.state }}' }

const taskOf = async (id: string) => (await service.get(`/api/tasks/${id}`)).body
const tasksOf = ({ source }: SentSource) =>
  service.query('select id from tasks where source_id = $1', [source.id])

describe('an item without a title', () => {
  test('is named in the response and the inbox, and the others make their tasks', async () => {
    const sent = await sourceOf(service, { each: 'payload', template })
    const { status, body } = await sent.send([{ id: 1, title: 'One' }, { id: 2 }, { id: 3, title: 'Three' }])
    expect([status, body.tasks.length]).toEqual([201, 2])
    expect(body.errors).toEqual([
      { path: '/template/title', code: 'required', message: 'item 1: rendered nothing' },
    ])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'accepted', errors: body.errors }])
  })

  test('rejects the delivery where it is the only one', async () => {
    const sent = await sourceOf(service, { each: 'payload', template })
    const { status, body } = await sent.send([{ id: 1 }])
    expect([status, body.errors[0].path]).toEqual([400, '/template/title'])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'rejected' }])
  })
})

test('a ping is filtered, although it lacks the array of items', async () => {
  const sent = await sourceOf(service, { each: 'payload.alerts', filter: 'payload.kind == "alert"' })
  const { status, body } = await sent.send({ kind: 'ping' })
  expect([status, body]).toEqual([200, { accepted: false, reason: 'filtered' }])
})

describe('a merged task of a source', () => {
  async function merged() {
    const sent = await sourceOf(service, { template })
    const { taskId } = (await sent.send({ id: 1, title: 'Disk full' })).body
    const { taskId: into } = (await sent.send({ id: 2, title: 'Disk full, too' })).body
    await service.post(`/api/tasks/${taskId}/merge`, { into })
    return { sent, taskId, into }
  }

  test('is updated, and stays done', async () => {
    const { sent, taskId, into } = await merged()
    expect((await sent.send({ id: 1, title: 'Disk still full', state: 'open' })).status).toBe(200)
    expect(await taskOf(taskId)).toMatchObject({ title: 'Disk still full', status: 'done', mergedInto: into })
  })

  test('has the status that its sender reported last, once it is unmerged', async () => {
    const { sent, taskId } = await merged()
    const { version } = await taskOf(taskId)
    await sent.send({ id: 1, title: 'Disk full', state: 'done' })
    expect(await taskOf(taskId)).toMatchObject({ status: 'done', version: version + 1 })
    expect((await service.post(`/api/tasks/${taskId}/unmerge`)).body.status).toBe('done')
  })

  test('reopens the task that it is merged into when it is open again', async () => {
    const { sent, taskId, into } = await merged()
    await service.patch(`/api/tasks/${into}`, { status: 'done' })
    await sent.send({ id: 1, title: 'Disk full', state: 'done' })
    expect((await taskOf(into)).status).toBe('done')
    await sent.send({ id: 1, title: 'Disk full', state: 'open' })
    expect([(await taskOf(into)).status, (await taskOf(taskId)).status]).toEqual(['open', 'done'])
    const activity = (await service.get(`/api/activity?taskId=${into}&limit=1`)).body.data
    expect(activity).toMatchObject([{ type: 'task.reopened', actor: { id: sent.source.id } }])
    expect((await service.post(`/api/tasks/${taskId}/unmerge`)).body.status).toBe('open')
  })

  test('reopens it in a replay, too', async () => {
    const { sent, taskId, into } = await merged()
    const { deliveryId } = (await sent.send({ id: 1, title: 'Disk full', state: 'open' })).body
    await sent.send({ id: 1, title: 'Disk full', state: 'done' })
    await service.patch(`/api/tasks/${into}`, { status: 'done' })
    await service.post(`/api/deliveries/${deliveryId}/replay`)
    expect((await taskOf(into)).status).toBe('open')
    expect((await service.post(`/api/tasks/${taskId}/unmerge`)).body.status).toBe('open')
  })
})

describe('a task of a source in another project', () => {
  async function moved() {
    const sent = await sourceOf(service, { template })
    const { taskId, deliveryId } = (await sent.send({ id: 1, title: 'Disk full', state: 'open' })).body
    const project = await service.given.project()
    await service.patch(`/api/tasks/${taskId}`, { listId: project.inbox.id })
    return { sent, taskId, deliveryId, project }
  }

  test('is updated where it lies', async () => {
    const { sent, taskId, project } = await moved()
    const { status, body } = await sent.send({ id: 1, title: 'Disk full', state: 'done' })
    expect([status, body.tasks]).toEqual([200, [{ taskId, created: false }]])
    expect(await taskOf(taskId)).toMatchObject({ status: 'done', projectId: project.id })
    expect(await tasksOf(sent)).toHaveLength(1)
  })

  test('is the one that a test of the source shows', async () => {
    const { sent, taskId } = await moved()
    const result = await service.post(`/api/sources/${sent.source.id}/test`, {
      payload: { id: 1, title: 'D' },
    })
    expect(result.body.tasks).toMatchObject([{ existingTaskId: taskId }])
  })

  test('stays as it is while that project is archived, and the delivery can be replayed', async () => {
    const { sent, taskId, project } = await moved()
    await service.post(`/api/projects/${project.id}/archive`)
    const { status, body } = await sent.send({ id: 1, title: 'Disk full', state: 'done' })
    expect([status, body]).toEqual([200, { accepted: false, reason: 'project_archived' }])
    const [, rejected] = await inboxOf(service, sent)
    expect(rejected).toMatchObject({ outcome: 'rejected', errors: [{ code: 'project_archived' }] })
    await service.post(`/api/projects/${project.id}/unarchive`)
    const replay = await service.post(`/api/deliveries/${rejected.id}/replay`)
    expect(replay.body).toMatchObject({ outcome: 'updated', tasks: [{ taskId, created: false }] })
    expect(await taskOf(taskId)).toMatchObject({ status: 'done', projectId: project.id })
  })

  test('is updated by a replay of a key that is bound to the project of the source', async () => {
    const { sent, taskId } = await moved()
    const { deliveryId } = (await sent.send({ id: 1, title: 'Disk full', state: 'done' })).body
    await service.patch(`/api/tasks/${taskId}`, { status: 'open' })
    const key = await service.given.key({ scopes: ['admin'], projectId: sent.source.projectId })
    await service.post(`/api/deliveries/${deliveryId}/replay`, undefined, { key })
    expect((await taskOf(taskId)).status).toBe('done')
    expect(await tasksOf(sent)).toHaveLength(1)
  })
})
