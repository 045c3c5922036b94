import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { deliver, inboxOf, type SentSource, sourceOf, FORM_TEMPLATE as template } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const tasksOf = ({ source }: SentSource) =>
  service.query('select * from tasks where source_id = $1 order by id', [source.id])

describe('a delivery of a source', () => {
  test('makes the task that its templates describe', async () => {
    const sent = await sourceOf(service, { template })
    const { status, body } = await sent.send({
      title: ' Export\n fails ',
      text: 'It **does** nothing.',
      priority: 'HIGH',
      labels: ['web', 'Web', 'export'],
      id: 4711,
      url: 'https://forms.example.com/4711',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      accepted: true,
      deliveryId: expect.any(String),
      taskId: expect.any(String),
      tasks: [{ taskId: body.taskId, created: true }],
      projectId: sent.source.projectId,
      listId: expect.any(String),
      duplicate: false,
    })
    const task = (await service.get(`/api/tasks/${body.taskId}`)).body
    expect(task).toMatchObject({
      title: 'Export fails',
      description: 'It **does** nothing.',
      descriptionReadOnly: false,
      priority: 'high',
      status: 'open',
      source: 'webhook',
      sourceId: sent.source.id,
      labels: ['forms', 'web', 'export'],
      externalId: '4711',
      externalUrl: 'https://forms.example.com/4711',
      createdBy: { type: 'system', id: sent.source.id, name: 'Forms' },
      version: 1,
    })
    const activity = await service.get(`/api/activity?taskId=${body.taskId}`)
    expect(activity.body.data.map(({ type }: { type: string }) => type)).toEqual(['task.created'])
    expect(await inboxOf(service, sent)).toMatchObject([
      { id: body.deliveryId, outcome: 'accepted', duplicates: 0, tasks: body.tasks, errors: null },
    ])
  })

  test('updates the task whose external ID is known, and leaves alone what it does not say', async () => {
    const sent = await sourceOf(service, { template })
    const first = await sent.send({ id: 1, title: 'Old', text: 'Text', priority: 'high' })
    const path = `/api/tasks/${first.body.taskId}`
    await service.patch(path, { notes: 'Ours', assignees: ['ada'], description: 'Edited' })
    const second = await sent.send({ id: 1, title: 'New' })
    expect([second.status, second.body.tasks]).toEqual([200, [{ taskId: first.body.taskId, created: false }]])
    expect((await service.get(path)).body).toMatchObject({
      title: 'New',
      description: 'Edited',
      priority: 'high',
      notes: 'Ours',
      assignees: ['ada'],
      version: 3,
    })
    await sent.send({ id: 1, title: 'New', text: 'Sent again' })
    expect((await service.get(path)).body).toMatchObject({ description: 'Sent again', notes: 'Ours' })
  })

  test('completes a task and reopens it, but does not stop one in progress', async () => {
    const sent = await sourceOf(service, { template })
    const { taskId } = (await sent.send({ id: 1, title: 'Disk full', state: 'open' })).body
    const statusAfter = async (state: string) => {
      await sent.send({ id: 1, title: 'Disk full', state })
      return (await service.get(`/api/tasks/${taskId}`)).body.status
    }
    await service.patch(`/api/tasks/${taskId}`, { status: 'in_progress' })
    expect(await statusAfter('open')).toBe('in_progress')
    expect(await statusAfter('done')).toBe('done')
    expect(await statusAfter('')).toBe('done')
    expect(await statusAfter('open')).toBe('open')
    const created = await sent.send({ title: 'Over already', state: 'done' })
    const task = await service.get(`/api/tasks/${created.body.taskId}`)
    expect(task.body).toMatchObject({ status: 'done', completedAt: expect.any(String) })
  })

  test('keeps external IDs of sources and of other projects apart', async () => {
    const [one, other] = [await sourceOf(service, { template }), await sourceOf(service, { template })]
    const same = await sourceOf(service, { template, projectId: one.source.projectId })
    const made = await Promise.all([one, other, same].map(({ send }) => send({ id: 1, title: 'Same' })))
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(made.map(({ body }) => body.taskId)).size).toBe(3)
  })

  test('makes a task for each item that the filter lets through', async () => {
    const sent = await sourceOf(service, {
      each: 'payload.alerts',
      filter: 'item.severity != "info"',
      template: { title: '{{ payload.name }}: {{ item.name }}', externalId: '{{ item.name }}' },
    })
    const alerts = ['a', 'b', 'c', 'a'].map((name) => ({ name, severity: name === 'b' ? 'info' : 'page' }))
    const { status, body } = await sent.send({ name: 'Disk', alerts })
    expect(status).toBe(201)
    const [first, second] = body.tasks
    expect(body.tasks).toEqual([
      { taskId: body.taskId, created: true },
      { taskId: second.taskId, created: true },
      { taskId: first.taskId, created: false },
    ])
    expect((await tasksOf(sent)).map(({ title }) => title).sort()).toEqual(['Disk: a', 'Disk: c'])
    const filtered = await sent.send({ alerts: [{ name: 'd', severity: 'info' }] })
    expect([filtered.status, filtered.body]).toEqual([200, { accepted: false, reason: 'filtered' }])
    expect((await inboxOf(service, sent)).map(({ outcome }) => outcome)).toEqual(['accepted', 'filtered'])
  })

  test('goes into the list of the source, or the default list where that was deleted', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    const sent = await sourceOf(service, { projectId: project.id, listId: list.id })
    expect((await sent.send({ title: 'One' })).body.listId).toBe(list.id)
    await service.delete(`/api/lists/${list.id}?moveTo=${project.inbox.id}`)
    expect((await sent.send({ title: 'Two' })).body.listId).toBe(project.inbox.id)
  })

  test('is stored, and makes no task, while the project is archived', async () => {
    const sent = await sourceOf(service)
    await service.post(`/api/projects/${sent.source.projectId}/archive`)
    const { status, body } = await sent.send({ title: 'Later' })
    expect([status, body]).toEqual([200, { accepted: false, reason: 'project_archived' }])
    expect(await inboxOf(service, sent)).toMatchObject([
      { outcome: 'rejected', errors: [{ code: 'project_archived' }], payload: '{"title":"Later"}' },
    ])
    expect(await tasksOf(sent)).toEqual([])
  })
})

describe('a repeated delivery', () => {
  test('changes nothing, by its ID', async () => {
    const sent = await sourceOf(service)
    const first = await sent.send({ title: 'Once' }, { id: 'msg_1' })
    const again = await sent.send({ title: 'Once more' }, { id: 'msg_1' })
    expect([again.status, again.body]).toEqual([200, { ...first.body, duplicate: true }])
    expect(await tasksOf(sent)).toHaveLength(1)
    expect((await inboxOf(service, sent))[0].duplicates).toBe(1)
  })

  test('makes one task, if 40 arrive at the same time', async () => {
    const sent = await sourceOf(service)
    const send = () => sent.send({ title: 'Once' }, { id: 'msg_40' })
    const responses = await Promise.all(Array.from({ length: 40 }, send))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(responses.map(({ body }) => body.taskId)).size).toBe(1)
    expect(await tasksOf(sent)).toHaveLength(1)
    expect((await inboxOf(service, sent)).map(({ duplicates }) => duplicates)).toEqual([39])
  })

  test('updates one task, if 40 of one external ID arrive at the same time', async () => {
    const sent = await sourceOf(service, { template })
    const send = (_: unknown, index: number) => sent.send({ id: 1, title: `Title ${index}` })
    const responses = await Promise.all(Array.from({ length: 40 }, send))
    expect(responses.every(({ status }) => status === 200 || status === 201)).toBe(true)
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await tasksOf(sent)).toHaveLength(1)
    expect(await inboxOf(service, sent)).toHaveLength(40)
  })
})

test('a source that was deleted accepts nothing, and its tasks stay', async () => {
  const sent = await sourceOf(service)
  const { taskId } = (await sent.send({ title: 'Before' })).body
  expect((await service.delete(`/api/sources/${sent.source.id}`)).status).toBe(204)
  const after = await deliver(service, { source: sent.source, payload: { title: 'After' } })
  expect([after.status, after.body.code]).toEqual([401, 'invalid_credentials'])
  expect((await service.get(`/api/tasks/${taskId}`)).body.sourceId).toBe(sent.source.id)
})
