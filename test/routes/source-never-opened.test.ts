import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { inboxOf, type SentSource, sourceOf, FORM_TEMPLATE as template } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const over = (id: number | string) => ({ id, title: `Disk ${id}`, state: 'done' })
const open = (id: number | string) => ({ ...over(id), state: 'open' })
const FILTERED = { accepted: false, reason: 'filtered' }

const tasksOf = ({ source }: SentSource) =>
  service.query('select id, external_id, status from tasks where source_id = $1 and deleted_at is null', [
    source.id,
  ])

describe('what is done when it is first heard of', () => {
  test('makes no task, and the inbox says why, however often it is sent', async () => {
    const sent = await sourceOf(service, { template })
    for (const id of ['msg_over', 'msg_over', undefined]) {
      const { status, body } = await sent.send(over(7), { id })
      expect([status, body]).toEqual([200, FILTERED])
    }
    expect(await tasksOf(sent)).toEqual([])
    const rows = await inboxOf(service, sent)
    expect(rows).toHaveLength(3)
    for (const row of rows)
      expect(row).toMatchObject({
        outcome: 'filtered',
        tasks: [],
        errors: [
          {
            path: '/template/status',
            code: 'never_opened',
            message: 'item 0: is done, and there is no task with the external ID 7 to complete',
          },
        ],
      })
  })

  test('makes a task if it has no external ID, which nothing could complete later', async () => {
    const sent = await sourceOf(service, { template })
    const { id: _, ...item } = over(1)
    expect((await sent.send(item)).status).toBe(201)
    expect(await tasksOf(sent)).toMatchObject([{ status: 'done' }])
  })

  test('makes no task either if its task was deleted', async () => {
    const sent = await sourceOf(service, { template })
    const { taskId } = (await sent.send(open(1))).body
    await service.delete(`/api/tasks/${taskId}`)
    expect((await sent.send(over(1))).body).toEqual(FILTERED)
    expect(await tasksOf(sent)).toEqual([])
  })

  test('is named among items that make tasks, in their order', async () => {
    const sent = await sourceOf(service, { each: 'payload.items', template })
    const items = [over('a'), open('b'), open('c'), over('c'), over('d'), open('d'), over('a')]
    const { status, body } = await sent.send({ items })
    expect(status).toBe(201)
    expect(body.errors.map(({ message }: { message: string }) => message.split(':')[0])).toEqual([
      'item 0',
      'item 4',
      'item 6',
    ])
    const tasks = await tasksOf(sent)
    expect(tasks.map((task) => `${task.external_id} ${task.status}`).toSorted()).toEqual([
      'b open',
      'c done',
      'd open',
    ])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'accepted', errors: body.errors }])
  })

  test('is filtered for each copy of a delivery that arrives at the same time', async () => {
    const sent = await sourceOf(service, { template })
    const copies = await Promise.all(Array.from({ length: 8 }, () => sent.send(over(1), { id: 'msg_same' })))
    expect(copies.map(({ status, body }) => [status, body])).toEqual(copies.map(() => [200, FILTERED]))
    expect(await tasksOf(sent)).toEqual([])
  })

  test.each([
    ['with an ID of its sender', { 'idempotency-key': 'over' }, false],
    ['without one', {}, false],
    ['of an archived project', { 'idempotency-key': 'over' }, true],
  ])('is stored once if the result of its first attempt was lost: %s', async (_, ids, isArchived) => {
    const { source } = await sourceOf(service, { template, verify: { scheme: 'bearer' } })
    if (isArchived) await service.post(`/api/projects/${source.projectId}/archive`)
    const { sourceSenders, receivers } = service.service
    const headers = { authorization: `Bearer ${source.secret}`, ...ids }
    const { target } = await sourceSenders.find(source.id, headers)
    const bytes = Buffer.from(JSON.stringify(over(1)))
    const store = await receivers.template(target, { bytes, headers })
    const ignored = isArchived ? { ...FILTERED, reason: 'project_archived' } : FILTERED
    expect(await store()).toEqual(ignored)
    expect(await store()).toEqual(ignored)
    expect(await inboxOf(service, { source })).toMatchObject([{ duplicates: 0 }])
  })

  test('is shown by a test, which a new source cannot know', async () => {
    const { source, send } = await sourceOf(service, { template })
    const path = `/api/sources/${source.id}/test`
    expect((await service.post(path, { payload: over(1) })).body).toMatchObject({
      outcome: 'filtered',
      tasks: [],
      errors: [{ code: 'never_opened' }],
    })
    const unsaved = await service.post('/api/sources/test', { source: { template }, payload: over(1) })
    expect(unsaved.body).toMatchObject({
      outcome: 'accepted',
      tasks: [{ explanation: expect.stringContaining('makes none if there is none') }],
    })
    await send(open(1))
    expect((await service.post(path, { payload: over(1) })).body).toMatchObject({
      outcome: 'accepted',
      errors: [],
    })
  })

  test('completes the task when it is replayed after that was made', async () => {
    const sent = await sourceOf(service, { template })
    await sent.send(over(1))
    const [event] = await inboxOf(service, sent)
    const replay = () => service.post(`/api/deliveries/${event?.id}/replay`)
    expect((await replay()).body).toMatchObject({ outcome: 'filtered', tasks: [] })
    const { taskId } = (await sent.send(open(1))).body
    expect((await replay()).body).toMatchObject({ outcome: 'updated', tasks: [{ taskId, created: false }] })
    expect(await tasksOf(sent)).toMatchObject([{ status: 'done' }])
  })
})
