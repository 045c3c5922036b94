import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { deliveryOf } from '../support/deliveries.ts'
import { feedback, type sender, startReceiver } from '../support/feedback.ts'
import { UUID } from '../support/patterns.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver())
})
afterAll(() => service.close())

describe('feedback', () => {
  test('becomes a task in the list "User Feedback" of the default project', async () => {
    const event = feedback({ note: 'The export button does nothing.', surface: 'web_app' })

    const response = await send(event)

    expect(response.status).toBe(201)
    const { taskId, deliveryId, projectId, listId } = response.body
    expect(response.body).toEqual({
      accepted: true,
      deliveryId: expect.stringMatching(UUID),
      taskId: expect.stringMatching(UUID),
      projectId: expect.stringMatching(UUID),
      listId: expect.stringMatching(UUID),
      duplicate: false,
      routing: { ruleId: null, matchedOn: 'default' },
    })
    expect(await service.task(taskId)).toMatchObject({
      title: 'The export button does nothing.',
      status: 'open',
      priority: 'high',
      source: 'analytics',
      descriptionReadOnly: true,
      projectId,
      listId,
      labels: ['frustrated', 'manual'],
      createdBy: { type: 'analytics', id: null },
      metadata: { distinctId: 'user-1', properties: event.properties },
    })
    expect((await service.get(`/api/lists/${listId}`)).body).toMatchObject({
      name: 'User Feedback',
      projectId,
    })
    const { data } = (await service.get(`/api/activity?taskId=${taskId}`)).body
    expect(data).toMatchObject([
      {
        type: 'feedback.received',
        projectId,
        actor: { type: 'analytics', id: null },
        metadata: { eventId: deliveryId, ruleId: null, ruleName: null, matchedOn: 'default' },
      },
      { type: 'task.created', projectId },
    ])
    expect(await deliveryOf(service, deliveryId)).toMatchObject({
      senderId: event.uuid,
      outcome: 'accepted',
      duplicates: 0,
      tasks: [{ taskId, created: true }],
      projectId,
      errors: null,
      payload: event,
      payloadCut: false,
    })
  })

  test('is accepted in the platform’s own shape as well', async () => {
    const event = feedback({ note: 'Nested' })
    const response = await send({ event, person: { properties: { email: 'x' } } })
    expect(response.status).toBe(201)
    expect((await service.task(response.body.taskId)).title).toBe('Nested')
    expect((await deliveryOf(service, response.body.deliveryId)).payload).toEqual({
      event,
      person: { properties: { email: 'x' } },
    })
  })

  test('without a uuid is identified by its content', async () => {
    const { uuid: _, ...event } = feedback({ note: randomUUID() })
    const { properties, ...others } = event
    const first = await send(event)

    const again = await send({
      properties: Object.fromEntries(Object.entries(properties).reverse()),
      ...others,
    })
    const other = await send({ ...event, distinct_id: 'user-2' })

    expect(again).toMatchObject({ status: 200, body: { taskId: first.body.taskId, duplicate: true } })
    expect(other.status).toBe(201)
  })

  test('whose task was deleted is still a repeat', async () => {
    const event = feedback()
    const { taskId } = (await send(event)).body
    await service.delete(`/api/tasks/${taskId}`)
    expect(await send(event)).toMatchObject({ status: 200, body: { taskId, duplicate: true } })
    await service.query('delete from tasks where id = $1', [taskId])
    expect(await send(event)).toMatchObject({ status: 200, body: { taskId, duplicate: true } })
  })

  test('needs no UUID anywhere', async () => {
    const response = await send(
      feedback({ project_id: 'p', app_id: 'a' }, { uuid: 'é'.repeat(100_000), distinct_id: '4711' }),
    )
    expect(response.status).toBe(201)
    expect((await deliveryOf(service, response.body.deliveryId)).senderId).toBe('é'.repeat(255))
  })
})

describe('the list "User Feedback"', () => {
  test('is the oldest with that exact name, also one created by a user; a renamed one is another', async () => {
    const { id, name } = await service.given.project({ name: `By hand ${randomUUID()}` })
    const at = (ms: number) => ({ createdAt: new Date(Date.now() - ms) })
    await service.given.list(id, { name: 'user feedback', ...at(9_000) })
    await service.given.list(id, { name: 'User Feedback', ...at(3_000) })
    const oldest = await service.given.list(id, { name: 'User Feedback', ...at(6_000) })

    const first = await send(feedback({ project_name: name }))
    await service.patch(`/api/lists/${oldest.id}`, { name: 'Feedback of users' })
    const second = await send(feedback({ project_name: name }))

    expect(first.body.listId).toBe(oldest.id)
    expect(second.body.listId).not.toBe(oldest.id)
  })
})
