import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { deliver, FORM_TEMPLATE, inboxOf, type SentSource, sourceOf } from '../support/sources.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let other: TestApp
beforeAll(async () => {
  instances = await startTwoInstances({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
  ;({ service, second: other } = instances)
})
afterAll(() => instances.close())

const bearer = { scheme: 'bearer' } as const
const hmac = { scheme: 'hmac_sha256_hex', header: 'X-Signature' } as const
const alerts = { title: '{{ item.title }}', externalId: '{{ item.id }}', status: '{{ item.state }}' }

const tasksOf = ({ source }: SentSource) =>
  service.query('select id, title, status from tasks where source_id = $1 order by id', [source.id])

/** As if all that was sent had arrived so many seconds earlier. */
const makeOlder = ({ source }: SentSource, seconds: number) =>
  service.query(
    `update source_items set received_at = received_at - $2 * interval '1 second' where source_id = $1`,
    [source.id, seconds],
  )

describe('an item with an external ID, from a sender without delivery IDs,', () => {
  test('is applied when the state has changed in between: down, up, down', async () => {
    const sent = await sourceOf(service, { verify: bearer, template: alerts })
    const down = { id: 'db', title: 'Database', state: 'open' }
    const { taskId } = (await sent.send(down)).body
    await sent.send({ ...down, state: 'done' })
    const again = await sent.send(down)
    expect([again.status, again.body]).toMatchObject([
      200,
      { duplicate: false, tasks: [{ taskId, created: false }] },
    ])
    expect(await tasksOf(sent)).toMatchObject([{ id: taskId, status: 'open' }])
  })

  test('repeats the latest one of its external ID, however late it is sent again', async () => {
    const sent = await sourceOf(service, { verify: bearer, template: alerts })
    const down = { id: 'db', title: 'Database', state: 'open' }
    const first = await sent.send(down)
    await service.patch(`/api/tasks/${first.body.taskId}`, { status: 'done' })
    await makeOlder(sent, 3_600)
    const again = await sent.send(JSON.stringify(down, null, 2))
    expect([again.status, again.body]).toEqual([200, { ...first.body, duplicate: true }])
    expect(await tasksOf(sent)).toMatchObject([{ status: 'done' }])
    expect(await inboxOf(service, sent)).toMatchObject([{ duplicates: 1 }])
  })

  test('is judged for itself in a delivery of several', async () => {
    const sent = await sourceOf(service, { verify: bearer, each: 'payload', template: alerts })
    const [a, b] = ['a', 'b'].map((id) => ({ id, title: id, state: 'open' }))
    const { tasks } = (await sent.send([a, b])).body
    for (const { taskId } of tasks) await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    const second = await sent.send([a, { ...b, title: 'b again' }])
    expect(second.body).toMatchObject({
      duplicate: false,
      tasks: tasks.map(({ taskId }: { taskId: string }) => ({ taskId, created: false })),
    })
    expect((await tasksOf(sent)).map(({ title, status }) => [title, status])).toEqual([
      ['a', 'done'],
      ['b again', 'open'],
    ])
    const both = await sent.send([{ ...b, title: 'b again' }, a])
    expect(both.body).toMatchObject({
      duplicate: true,
      tasks: [tasks[1], tasks[0]].map(({ taskId }) => ({ taskId, created: false })),
    })
  })

  test('is applied once of twenty equal ones at the same time, on two instances', async () => {
    const sent = await sourceOf(service, { verify: bearer, template: alerts })
    const responses = await sendAtOnce(sent, { id: 'db', title: 'Database' })
    expect(responses.filter(({ body }) => body.duplicate === false)).toHaveLength(1)
    expect(await tasksOf(sent)).toHaveLength(1)
    expect(await inboxOf(service, sent)).toMatchObject([{ duplicates: 19 }])
  })

  test('is compared with one that had a delivery ID, too', async () => {
    const sent = await sourceOf(service, { verify: bearer, template: alerts })
    const down = { id: 'db', title: 'Database', state: 'open' }
    await sent.send(down)
    await sent.send({ ...down, state: 'done' }, { headers: { 'webhook-id': 'up' } })
    expect((await sent.send(down)).body.duplicate).toBe(false)
    expect(await tasksOf(sent)).toMatchObject([{ status: 'open' }])
  })
})

describe('an item without an external ID, from a sender without delivery IDs,', () => {
  test('is a repeat for ten seconds, and then makes another task', async () => {
    const sent = await sourceOf(service, { verify: bearer })
    const first = await sent.send({ title: 'Please call back' })
    await makeOlder(sent, 9)
    const again = await sent.send({ title: 'Please call back' })
    expect([again.status, again.body]).toEqual([200, { ...first.body, duplicate: true }])
    await makeOlder(sent, 2)
    const later = await sent.send({ title: 'Please call back' })
    expect([later.status, later.body.duplicate]).toEqual([201, false])
    expect(await tasksOf(sent)).toHaveLength(2)
  })

  test('makes one task of twenty equal ones at the same time, on two instances', async () => {
    const sent = await sourceOf(service, { verify: bearer })
    const responses = await sendAtOnce(sent, { title: 'Deployed' })
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await tasksOf(sent)).toHaveLength(1)
  })

  test('makes a task for each of two equal ones in one delivery, and none when that is sent again', async () => {
    const sent = await sourceOf(service, { verify: bearer, each: 'payload' })
    const first = await sent.send([{ title: '+1' }, { title: '+1' }])
    expect(first.body.tasks.map(({ created }: { created: boolean }) => created)).toEqual([true, true])
    const again = await sent.send([{ title: '+1' }, { title: '+1' }])
    expect(again.body).toEqual({ ...first.body, duplicate: true })
    expect(await tasksOf(sent)).toHaveLength(2)
  })

  test('is new with a delivery ID of its own', async () => {
    const sent = await sourceOf(service, { verify: bearer })
    await sent.send({ title: 'Deployed' })
    const withId = await sent.send({ title: 'Deployed' }, { headers: { 'idempotency-key': 'deploy-3' } })
    expect(withId.status).toBe(201)
  })
})

describe('an ID header that is not signed', () => {
  test('makes no new delivery of a signed body that is sent again', async () => {
    const sent = await sourceOf(service, { verify: hmac })
    const first = await sent.send({ title: 'Captured' }, { headers: { 'webhook-id': 'one' } })
    for (const headers of [{ 'webhook-id': 'two' }, { 'idempotency-key': 'three' }]) {
      const again = await sent.send({ title: 'Captured' }, { headers })
      expect(again.body).toEqual({ ...first.body, duplicate: true })
    }
    expect(await tasksOf(sent)).toHaveLength(1)
  })

  test('swallows no other body', async () => {
    const sent = await sourceOf(service, { verify: hmac, template: FORM_TEMPLATE })
    const headers = { 'webhook-id': 'same' }
    const made = [
      await sent.send({ title: 'One' }, { headers }),
      await sent.send({ title: 'Two' }, { headers }),
    ]
    expect(made.map(({ status }) => status)).toEqual([201, 201])
    expect(await inboxOf(service, sent)).toMatchObject([{ sender_id: null }, { sender_id: null }])
  })
})

/** Ten times to each instance, whose threads have rendered before. */
async function sendAtOnce({ source }: SentSource, payload: object) {
  const warm = await sourceOf(service, { verify: bearer })
  for (const instance of [service, other])
    await deliver(instance, { source: warm.source, payload: { title: instance.url } })
  return Promise.all(
    Array.from({ length: 20 }, (_, at) => deliver(at % 2 ? service : other, { source, payload })),
  )
}
