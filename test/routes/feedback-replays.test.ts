import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { feedback, newestEvent, type sender, startReceiver } from '../support/feedback.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver())
})
afterAll(() => service.close())

const newestRejected = () => newestEvent(service, 'rejected')
const replay = (id: string) => service.post(`/api/deliveries/${id}/replay`)
const tasksFor = (distinctId: string) =>
  service.query(`select id from tasks where metadata ->> 'distinctId' = $1`, [distinctId])

async function project(name = `Project ${randomUUID()}`) {
  return (await service.post('/api/projects', { name })).body
}
const rule = async (targetProjectId: string, appMatch: string, values: object = {}) =>
  (await service.post('/api/webhook-routing', { appMatch, targetProjectId, ...values })).body

/** As a version that took less left it behind. */
async function rejectedEarlier(event: object): Promise<string> {
  await send({ ...event, timestamp: 'no time' })
  const { id } = await newestRejected()
  await service.query('update deliveries set payload = $1 where id = $2', [JSON.stringify(event), id])
  return id
}

describe('a replay', () => {
  test('of an event that is still invalid returns its errors, and the event stays rejected', async () => {
    await send(feedback({ sentiment: 'angry' }))
    const { id } = await newestRejected()

    const response = await replay(id)

    expect(response).toMatchObject({ status: 200, body: { id, outcome: 'rejected', tasks: [] } })
    expect(response.body.errors).toMatchObject([{ path: '/properties/sentiment' }])
  })

  test('of an event that is now valid creates its task, once', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const id = await rejectedEarlier(event)

    const responses = await Promise.all(Array.from({ length: 10 }, () => replay(id)))

    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const [{ body }] = responses as [(typeof responses)[0]]
    expect(body).toMatchObject({ id, outcome: 'accepted', errors: null, routing: { matchedOn: 'default' } })
    const [{ taskId }] = body.tasks
    expect(await tasksFor(event.distinct_id)).toEqual([{ id: taskId }])
    expect((await service.task(taskId)).source).toBe('analytics')
    expect(await send(event)).toMatchObject({
      status: 200,
      body: { deliveryId: id, taskId, duplicate: true },
    })
  })

  test('of an event that was fixed and sent again returns that task', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const id = await rejectedEarlier(event)
    const { taskId } = (await send(event)).body

    expect((await replay(id)).body).toMatchObject({ id, outcome: 'accepted', tasks: [{ taskId }] })
    expect((await replay(id)).body).toMatchObject({ id, outcome: 'accepted', tasks: [{ taskId }] })
    expect(await tasksFor(event.distinct_id)).toHaveLength(1)
  })

  test('that races with the same event creates one task', async () => {
    for (let round = 0; round < 10; round++) {
      const event = feedback({}, { distinct_id: randomUUID() })
      const id = await rejectedEarlier(event)
      const [replayed, sent] = await Promise.all([replay(id), send(event)])
      expect([replayed.status, [200, 201].includes(sent.status)]).toEqual([200, true])
      expect(replayed.body.tasks[0].taskId).toBe(sent.body.taskId)
      expect(await tasksFor(event.distinct_id)).toHaveLength(1)
    }
  })

  test('of an event with a task keeps the task, and moves it by the present routing', async () => {
    const target = await project()
    const { body } = await send(feedback({ app_id: 'app.move' }))
    const made = await rule(target.id, 'app.move', { name: 'Moving' })

    const response = await replay(body.deliveryId)
    const again = await replay(body.deliveryId)

    expect(response.body).toMatchObject({
      tasks: [{ taskId: body.taskId }],
      projectId: target.id,
      routing: { ruleId: made.id, ruleName: 'Moving', matchedOn: 'app' },
    })
    expect(again.body).toEqual(response.body)
    const task = await service.task(body.taskId)
    expect(task).toMatchObject({ projectId: target.id, version: 2 })
    expect((await service.get(`/api/lists/${task.listId}`)).body.name).toBe('User Feedback')
    const { data } = (await service.get(`/api/activity?taskId=${body.taskId}&type=task.updated`)).body
    expect(data).toMatchObject([
      {
        actor: { type: 'key' },
        metadata: { changes: { projectId: { from: body.projectId, to: target.id } } },
      },
    ])
    expect(await send({ ...feedback({ app_id: 'app.move' }) })).toMatchObject({
      body: { projectId: target.id },
    })
  })

  test('does not reopen a task that is done', async () => {
    const { taskId, deliveryId } = (await send(feedback({}, { distinct_id: randomUUID() }))).body
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    expect((await replay(deliveryId)).status).toBe(200)
    expect((await service.task(taskId)).status).toBe('done')
  })

  test('leaves a task where a person moved it inside the same project', async () => {
    const { body } = await send(feedback())
    const list = (await service.post(`/api/projects/${body.projectId}/lists`, { name: 'Triaged' })).body
    await service.patch(`/api/tasks/${body.taskId}`, { listId: list.id })

    expect((await replay(body.deliveryId)).status).toBe(200)
    expect(await service.task(body.taskId)).toMatchObject({ listId: list.id, version: 2 })
  })

  test('uses the metadata of the task when the payload is deleted', async () => {
    const target = await project()
    const { body } = await send(feedback({ bundle_id: 'com.kept' }))
    await service.query('update deliveries set payload = null where id = $1', [body.deliveryId])
    await rule(target.id, 'com.kept')
    expect((await replay(body.deliveryId)).body).toMatchObject({ projectId: target.id, payload: null })
  })

  test('of an event whose task was deleted does not restore it', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const { body } = await send(event)
    await service.delete(`/api/tasks/${body.taskId}`)
    expect(await replay(body.deliveryId)).toMatchObject({
      status: 200,
      body: { tasks: [{ taskId: body.taskId }] },
    })
    expect((await service.get(`/api/tasks/${body.taskId}`)).status).toBe(404)
    expect(await tasksFor(event.distinct_id)).toHaveLength(1)
  })

  test('does not write into an archived project', async () => {
    const target = await project()
    const made = await rule(target.id, 'app.archived')
    const { body } = await send(feedback({ app_id: 'app.archived' }))
    await service.post(`/api/projects/${target.id}/archive`)
    const response = await replay(body.deliveryId)
    expect([response.status, response.body.code]).toEqual([409, 'project_archived'])
    await service.delete(`/api/webhook-routing/${made.id}`)
  })

  test('of an ignored event, or of one with a truncated payload, is rejected', async () => {
    await send(feedback({}, { event: 'other' }))
    await send({ event: 'feedback_submitted', long: 'x'.repeat(300_000) })
    for (const outcome of ['ignored', 'rejected']) {
      const { id } = await newestEvent(service, outcome)
      const response = await replay(id)
      expect([response.status, response.body.code]).toEqual([409, 'delivery_not_replayable'])
    }
  })
})
