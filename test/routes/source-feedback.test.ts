import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { times } from '../support/concurrent.ts'
import { deliveriesOf, deliveryOf } from '../support/deliveries.ts'
import { feedback, sender, startReceiver, WEBHOOK_SECRET } from '../support/feedback.ts'
import { FEEDBACK_EVENTS } from '../support/feedback-events.ts'
import { type SentSource, sourceOf } from '../support/sources.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

const env = { ENCRYPTION_KEY: 'ab'.repeat(32), WEBHOOK_SECRET }
const feedbackSource = (service: TestApp, given: object = {}) =>
  sourceOf(service, { mapping: 'feedback', template: null, ...given })

describe('an event makes the same through a source as through the receiver', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let other: TestApp
  let source: SentSource
  beforeAll(async () => {
    receiver = await startReceiver({ env })
    other = (await startReceiver({ env })).service
    for (const service of [receiver.service, other]) await configure(service)
    source = await feedbackSource(other)
  })
  afterAll(async () => {
    await other.close()
    await receiver.service.close()
  })

  test.each(FEEDBACK_EVENTS)('%s', async (_, event) => {
    const received = await receiver.send(event)
    const sent = await source.send(event)
    expect(sent.status).toBe(received.status)
    if (!received.body.accepted) {
      const { requestId: _received, instance: _instance, ...refusal } = received.body
      expect(sent.body).toMatchObject(refusal)
      return
    }
    const { taskId, routing } = received.body
    expect(sent.body.routing.matchedOn).toBe(routing.matchedOn)
    expect(sent.body.tasks).toEqual([{ taskId: sent.body.taskId, created: true }])
    expect(await storedOf(other, sent.body.taskId)).toEqual(await storedOf(receiver.service, taskId))
    const { sourceId, ...stored } = await inboxOf(other, sent.body.deliveryId)
    expect(sourceId).toBe(source.source.id)
    expect({ ...stored, sourceId: null }).toEqual(await inboxOf(receiver.service, received.body.deliveryId))
  })

  /** The same projects and rules for each. */
  async function configure(service: TestApp) {
    const [checkout, native] = [
      await service.given.project({ name: 'Checkout' }),
      await service.given.project({ name: 'Native' }),
    ]
    await service.given.project({ name: 'Grouped', groupFeedback: 'auto' })
    for (const rule of [
      { name: 'App', appMatch: 'com.example.app', targetProjectId: native.id },
      { name: 'Both', appMatch: 'com.example.app', projectMatch: 'checkout', targetProjectId: checkout.id },
    ]) {
      expect((await service.post('/api/webhook-routing', rule)).status).toBe(201)
    }
  }

  /** A task and its activity, with names in place of what differs between two databases: ids and times of arrival. */
  async function storedOf(service: TestApp, id: string) {
    const [task] = await service.query(
      `select tasks.*, projects.name as project, lists.name as list, target.title as target,
         case when tasks.opened_at = tasks.created_at then null else tasks.opened_at end as opened
       from tasks join projects on projects.id = project_id join lists on lists.id = list_id
         left join tasks target on target.id = tasks.merged_into where tasks.id = $1`,
      [id],
    )
    const activity = await service.query(
      `select type, actor_type, actor_id, actor_name, message, metadata from activity where task_id = $1 order by id`,
      [id],
    )
    const ids = { id: 0, project_id: 0, list_id: 0, merged_into: 0, number: 0 }
    const arrived = { created_at: 0, updated_at: 0, opened_at: 0, completed_at: task.completed_at && 0 }
    const own = ({ metadata: { eventId, ruleId, into, reportId, ...metadata }, ...row }: typeof task) => ({
      ...row,
      metadata,
    })
    return { ...task, ...ids, ...arrived, activity: activity.map(own) }
  }

  async function inboxOf(service: TestApp, id: string) {
    const { id: _id, tasks, projectId, receivedAt, routing, ...event } = await deliveryOf(service, id)
    const { ruleId, explanation, ...route } = routing
    return { ...event, routing: route }
  }
})

describe('a source with the mapping feedback', () => {
  let instances: TwoInstances
  let service: TestApp
  let receive: ReturnType<typeof sender>
  let sent: SentSource
  beforeAll(async () => {
    instances = await startTwoInstances({ env })
    service = instances.service
    receive = sender(instances.second.url, WEBHOOK_SECRET)
    sent = await feedbackSource(service)
  })
  afterAll(() => instances.close())

  test('and the receiver make one task of an event that arrives at both', async () => {
    const [first, second] = [feedback(), feedback()]
    const made = await receive(first)
    const repeat = await sent.send(first)
    expect([repeat.status, repeat.body]).toEqual([
      200,
      { ...made.body, duplicate: true, tasks: [{ taskId: made.body.taskId, created: false }] },
    ])
    const { tasks: _, ...other } = (await sent.send(second)).body
    expect((await receive(second)).body).toEqual({ ...other, duplicate: true })
  })

  test('and the receiver make one task of an event that arrives at both at once, on two instances', async () => {
    for (let round = 0; round < 10; round++) {
      const event = feedback({ note: `Round ${round}` })
      const responses = await times(4, (n) => (n % 2 === 0 ? sent.send(event) : receive(event)))
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201])
      expect(new Set(responses.map(({ body }) => body.taskId)).size).toBe(1)
      const [{ count }] = await service.query(`select count(*)::int from tasks where description like $1`, [
        `Round ${round}%`,
      ])
      expect(count).toBe(1)
    }
  })

  test('still knows an event after the source was deleted', async () => {
    const { source, send } = await feedbackSource(service)
    const event = feedback()
    const { taskId, deliveryId } = (await send(event)).body
    expect((await service.delete(`/api/sources/${source.id}`)).status).toBe(204)
    expect((await receive(event)).body).toMatchObject({ taskId, duplicate: true })
    expect((await deliveryOf(service, deliveryId)).sourceId).toBe(source.id)
  })

  test('lists its deliveries, and replays them', async () => {
    const { source, send } = await feedbackSource(service)
    const event = feedback({ project_name: 'Later' })
    const { taskId } = (await send(event)).body
    await send({ ...event, uuid: 'other', event: '$pageview' })
    await send({ event: 'feedback_submitted' })
    const data = await deliveriesOf(service, `sourceId=${source.id}`)
    expect(data.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'rejected',
      'ignored',
      'accepted',
    ])
    expect(data[2]).toMatchObject({
      sourceId: source.id,
      receiver: 'feedback',
      senderId: event.uuid,
      tasks: [{ taskId, created: true }],
      payload: event,
    })
    expect(await deliveriesOf(service, `sourceId=${source.id}&outcome=ignored`)).toEqual([data[1]])
    expect(await deliveriesOf(service, `sourceId=${source.id}&receiver=feedback`)).toEqual(data)
    const { id: projectId } = await service.given.project({ name: 'Later' })
    const replayed = await service.post(`/api/deliveries/${data[2].id}/replay`)
    expect([replayed.status, replayed.body.tasks]).toEqual([200, [{ taskId, created: true }]])
    expect(await service.task(taskId)).toMatchObject({ projectId })
    const { deliveryId } = (await receive(feedback())).body
    expect((await service.post(`/api/sources/${source.id}/test`, { deliveryId })).body.code).toBe(
      'delivery_not_found',
    )
  })

  test('tells in a test what an event would make, and makes nothing', async () => {
    const event = feedback({ note: 'Would be made' })
    const source = { mapping: 'feedback' }
    const path = `/api/sources/${sent.source.id}/test`
    for (const test of [
      await service.post('/api/sources/test', { source, payload: event }),
      await service.post(path, { payload: event }),
    ]) {
      expect([test.status, test.body]).toMatchObject([
        200,
        {
          outcome: 'accepted',
          tasks: [
            {
              task: { title: 'Would be made', priority: 'high', labels: ['frustrated', 'manual'] },
              existingTaskId: null,
              explanation: expect.stringContaining('“User Feedback”'),
            },
          ],
          errors: [],
        },
      ])
    }
    const { taskId, deliveryId } = (await sent.send(event)).body
    expect((await service.post(path, { deliveryId })).body.tasks).toMatchObject([{ existingTaskId: taskId }])
    const others = [
      await service.post(path, { payload: { ...event, event: '$pageview' } }),
      await service.post(path, { payload: { event: 'feedback_submitted' } }),
    ]
    expect(others.map(({ body: { outcome, errors } }) => [outcome, errors.length > 0])).toEqual([
      ['filtered', false],
      ['rejected', true],
    ])
  })

  test.each<[string, object]>([
    ['/template', { template: { title: 'T' } }],
    ['/each', { each: 'payload.items' }],
    ['/filter', { filter: 'payload.ok' }],
    ['/clears', { clears: ['labels'] }],
    ['/listId', { listId: '019e0000-0000-7000-8000-000000000000' }],
  ])('takes no %s, when it is created, changed, or tested', async (path, given) => {
    const { listId: _, ...tested } = given as { listId?: string }
    const { projectId, id } = sent.source
    const body = { name: 'F', projectId, verify: { scheme: 'bearer' }, mapping: 'feedback', ...given }
    const responses = [
      await service.post('/api/sources', body),
      await service.patch(`/api/sources/${id}`, given),
      ...(path === '/listId'
        ? []
        : [
            await service.post('/api/sources/test', {
              source: { mapping: 'feedback', ...tested },
              payload: {},
            }),
          ]),
    ]
    for (const { status, body } of responses)
      expect([status, body.errors]).toMatchObject([400, [{ path, code: 'not_allowed' }]])
  })

  test('is shown with its mapping, which cannot be changed', async () => {
    const { source } = sent
    expect(source).toMatchObject({
      mapping: 'feedback',
      template: null,
      each: null,
      filter: null,
      clears: [],
    })
    const changed = await service.patch(`/api/sources/${source.id}`, { mapping: 'template' })
    expect([changed.status, changed.body.errors[0].path]).toEqual([400, '/mapping'])
    const { projectId } = source
    const without = { name: 'T', projectId, verify: { scheme: 'bearer' } }
    for (const body of [without, { ...without, template: null }]) {
      const { status, body: problem } = await service.post('/api/sources', body)
      expect([status, problem.errors]).toMatchObject([400, [{ path: '/template', code: 'required' }]])
    }
  })

  test('is not for keys of one project, because routing reaches all of them', async () => {
    const { id, projectId } = sent.source
    const key = await service.given.key({ scopes: ['admin'], projectId })
    const { deliveryId } = (await sent.send(feedback({ project_id: projectId }))).body
    const source = { mapping: 'feedback' }
    const path = `/api/sources/${id}`
    const given = { name: 'F', projectId, verify: { scheme: 'bearer' }, ...source }
    const responses = [
      await service.post('/api/sources', given, { key }),
      await service.patch(path, { name: 'Mine' }, { key }),
      await service.post(`${path}/rotate`, {}, { key }),
      await service.delete(path, { key }),
      await service.post('/api/sources/test', { source, payload: feedback() }, { key }),
      await service.post(`${path}/test`, { payload: feedback() }, { key }),
      await service.post(`/api/deliveries/${deliveryId}/replay`, {}, { key }),
    ]
    expect(responses.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      responses.map(() => '403 insufficient_scope'),
    )
    expect((await service.get(path, { key })).body).toMatchObject({ id, mapping: 'feedback' })
  })
})
