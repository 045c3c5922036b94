import { describe, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { sendingApp } from '../../support/sending-app.ts'
import {
  deliverDue,
  deliveriesOf,
  type Receiver,
  SENDING_ENV,
  startReceiver,
  verify,
  webhookTo,
} from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp((sending) => {
  ;({ app, receiver } = sending)
})

describe('a delivery', () => {
  test('has the activity, the task in its summary form, and a signature that the official library verifies', async () => {
    const { secret } = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const { body: task } = await app.post('/api/tasks', { title: 'Ärger 🐛', description: 'Not sent' })
    const { body: log } = await app.get(`/api/activity?taskId=${task.id}`)
    await deliverDue(app)
    const [received, ...more] = receiver.received
    expect(more).toEqual([])
    if (!received) throw new Error('Nothing arrived.')
    const { body: page } = await app.get('/api/tasks?fields=summary&limit=1')
    expect(received.body).toEqual({
      type: 'task.created',
      timestamp: log.data[0].createdAt,
      data: log.data[0],
      task: page.data[0],
    })
    expect(received.body.task).not.toHaveProperty('description')
    expect(verify(received, secret)).toEqual(received.body)
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Inlet\//),
    })
  })

  test('is there for each matching activity since the webhook was created, and for no other', async () => {
    const before = await createTask('Before')
    const project = await app.given.project()
    const all = await webhookTo(app, { url: `${receiver.url}/all` })
    await webhookTo(app, { url: `${receiver.url}/completed`, types: ['task.completed', 'task.reopened'] })
    await webhookTo(app, { url: `${receiver.url}/project`, projectId: project.id, types: ['task.created'] })
    const id = await createTask('After')
    await app.patch(`/api/tasks/${id}`, { status: 'done' })
    const mine = await app.post('/api/tasks', { title: 'Mine', listId: project.inbox.id })
    await deliverDue(app)
    const typesAt = (path: string) =>
      receiver.received
        .filter((each) => each.path.endsWith(path))
        .map(({ body }) => [body.type, body.data.taskId])
    expect(typesAt('/completed')).toEqual([['task.completed', id]])
    expect(typesAt('/project')).toEqual([['task.created', mine.body.id]])
    const { body: log } = await app.get('/api/activity?limit=200')
    const since = log.data.findIndex(({ taskId }: { taskId: string }) => taskId === before)
    const idsAt = receiver.received.flatMap(({ path, body }) => (path.endsWith('/all') ? body.data.id : []))
    expect(idsAt.toSorted()).toEqual(
      log.data
        .slice(0, since)
        .map(({ id }: { id: string }) => id)
        .toSorted(),
    )
    const deliveries = await deliveriesOf(app, all)
    expect(deliveries.every(({ outcome, attempts }) => outcome === 'delivered' && attempts === 1)).toBe(true)
  })

  test('of a task that was deleted since has no task', async () => {
    await webhookTo(app, { url: receiver.url, types: ['task.created', 'task.deleted'] })
    const id = await createTask('Deleted')
    await app.delete(`/api/tasks/${id}`)
    await deliverDue(app)
    expect(receiver.received.map(({ body }) => [body.type, body.task])).toEqual([
      ['task.created', null],
      ['task.deleted', null],
    ])
  })

  test('of a task that was moved to another project since has no task there', async () => {
    const [project, other] = [await app.given.project(), await app.given.project()]
    await webhookTo(app, { url: `${receiver.url}/project`, projectId: project.id, types: ['task.created'] })
    await webhookTo(app, { url: `${receiver.url}/all`, types: ['task.created'] })
    const { body: task } = await app.post('/api/tasks', { title: 'Moved', listId: project.inbox.id })
    const moved = await app.patch(`/api/tasks/${task.id}`, { listId: other.inbox.id })
    expect(moved.status).toBe(200)
    await deliverDue(app)
    const tasks = receiver.received.map(({ path, body }) => [path, body.data.taskId, body.task?.id ?? null])
    expect(tasks.toSorted()).toEqual([
      ['/hook/all', task.id, task.id],
      ['/hook/project', task.id, null],
    ])
  })

  test('is one of five at the same time, and in the order of its task', async () => {
    await webhookTo(app, { url: receiver.url, types: ['task.updated'] })
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => createTask(`Task ${n}`)))
    for (const n of [1, 2, 3, 4]) {
      await Promise.all(ids.map((id) => app.patch(`/api/tasks/${id}`, { title: `Title ${n}` })))
    }
    receiver.respond((response) => setTimeout(() => response.writeHead(200).end(), 5 + Math.random() * 10))
    await deliverDue(app)
    expect(receiver.received).toHaveLength(48)
    expect(receiver.maxConcurrent()).toBe(5)
    for (const id of ids) {
      const ofTask = receiver.received.filter(({ body }) => body.data.taskId === id)
      expect(ofTask.map(({ body }) => body.data.metadata.changes?.title?.to ?? body.data.createdAt)).toEqual(
        ofTask.map(({ body }) => body.data.metadata.changes?.title?.to ?? body.data.createdAt).toSorted(),
      )
    }
  })
})

describe('several webhooks', () => {
  test('do not wait for one that does not respond', async () => {
    const silent = await startReceiver()
    // Its requests have 10 s.
    const unhurried = await startApp({ env: SENDING_ENV, connectionString: app.connectionString })
    const allArrived = Promise.withResolvers<void>()
    silent.respond(async (response) => {
      await allArrived.promise
      response.writeHead(200).end()
    })
    const webhooks = []
    for (let n = 0; n < 4; n++)
      webhooks.push(await webhookTo(app, { url: silent.url, types: ['task.created'] }))
    await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await Promise.all(Array.from({ length: 20 }, (_, n) => createTask(`Task ${n}`)))
    receiver.respond((response) => {
      if (receiver.received.length === 20) allArrived.resolve()
      response.writeHead(200).end()
    })
    await deliverDue(unhurried)
    await unhurried.close()
    expect(receiver.received).toHaveLength(20)
    // None has waited until its deadline.
    for (const webhook of webhooks) expect(await deliveriesOf(app, webhook, '&outcome=failed')).toEqual([])
    await silent.close()
  })

  test('are shared by instances, which send each delivery once', async () => {
    const other = await startApp({ env: SENDING_ENV, connectionString: app.connectionString })
    for (const path of ['/a', '/b', '/c']) {
      await webhookTo(app, { url: receiver.url + path, types: ['task.created'] })
    }
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => createTask(`Task ${n}`)))
    await Promise.all([deliverDue(app), deliverDue(other)])
    // The one that came first may have found nothing yet.
    await deliverDue(app)
    await other.close()
    const arrived = receiver.received.map(({ path, body }) => `${path} ${body.data.taskId}`)
    const expected = ['/hook/a', '/hook/b', '/hook/c'].flatMap((path) => ids.map((id) => `${path} ${id}`))
    expect(arrived.toSorted()).toEqual(expected.toSorted())
  })
})

test('a lease that is renewed slowly delays nothing that is due after it', async () => {
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await createTask('Sent while the lease is renewed')
  const isRead = Promise.withResolvers<void>()
  receiver.respond(async (response) => {
    await isRead.promise
    response.writeHead(204).end()
  })
  const isSlow = Promise.withResolvers<void>()
  const { renew } = app.repos.webhookQueue
  const renewing = vi.spyOn(app.repos.webhookQueue, 'renew').mockImplementation(async (...given) => {
    await isSlow.promise
    return renew(...given)
  })
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const sent = deliverDue(app)
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
  vi.advanceTimersByTime(9_000)
  expect(renewing).toHaveBeenCalledTimes(1)
  isRead.resolve()
  await vi.waitFor(
    async () => expect(await deliveriesOf(app, webhook, '&outcome=delivered')).toHaveLength(1),
    { timeout: 10_000 },
  )
  isSlow.resolve()
  await Promise.all([sent, ...renewing.mock.results.map(({ value }) => value)])
  vi.useRealTimers()
  renewing.mockRestore()
  await createTask('Due after it')
  await deliverDue(app)
  expect(receiver.received).toHaveLength(2)
})

describe('a change of a webhook while it is sent to', () => {
  /** Sends 20 deliveries, of which 5 are under way at the change. They are responded to after it. */
  async function changeAfterFive(
    change: (webhook: { id: string }) => Promise<unknown>,
    { status = 204 }: { status?: number } = {},
  ) {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Delivered before')
    await deliverDue(app)
    receiver.received.length = 0
    await Promise.all(Array.from({ length: 20 }, (_, n) => createTask(`Task ${n}`)))
    const isChanged = Promise.withResolvers<void>()
    receiver.respond(async (response) => {
      await isChanged.promise
      response.writeHead(status).end()
    })
    const sent = deliverDue(app)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(5), { timeout: 10_000 })
    await change(webhook)
    app.service.webhookQueue.wake()
    isChanged.resolve()
    await sent
    return { before: receiver.received.slice(0, 5), after: receiver.received.slice(5), webhook }
  }

  test('sends what is left to the new URL', async () => {
    const { before, after } = await changeAfterFive(({ id }) =>
      app.patch(`/api/webhooks/${id}`, { url: `${receiver.url}/new` }),
    )
    expect(new Set(before.map(({ path }) => path))).toEqual(new Set(['/hook']))
    expect(after.map(({ path }) => path)).toEqual(Array(15).fill('/hook/new'))
  })

  test('counts no failure of the old URL against the new one', async () => {
    const { webhook, after } = await changeAfterFive(
      async ({ id }) => {
        await app.patch(`/api/webhooks/${id}`, { url: `${receiver.url}/new` })
        receiver.respondWith(204)
      },
      { status: 410 },
    )
    expect(after.map(({ path }) => path)).toEqual(Array(20).fill('/hook/new'))
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toMatchObject({
      isActive: true,
      nextAttemptAt: null,
    })
  })

  test('signs what is left with the new secret', async () => {
    let secret = ''
    const { after } = await changeAfterFive(async ({ id }) => {
      secret = (await app.post(`/api/webhooks/${id}/rotate`, { overlapSeconds: 0 })).body.secret
    })
    expect(after).toHaveLength(15)
    for (const each of after) expect(() => verify(each, secret)).not.toThrow()
  })

  test('sends everything if it comes as sending begins', async () => {
    await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Sent')
    const { webhookQueue } = app.repos
    const { findDue } = webhookQueue
    const finding = vi.spyOn(webhookQueue, 'findDue').mockImplementationOnce((lease) => {
      app.service.webhookQueue.wake()
      return findDue(lease)
    })
    await deliverDue(app)
    finding.mockRestore()
    expect(receiver.received).toHaveLength(1)
  })

  test('sends a delivery again, to be retried, before what is left', async () => {
    let retried: string | undefined
    const { after } = await changeAfterFive(async (webhook) => {
      retried = (await deliveriesOf(app, webhook, '&outcome=delivered'))[0]?.id
      const { status } = await app.post(`/api/webhooks/${webhook.id}/deliveries/${retried}/retry`)
      expect(status).toBe(200)
    })
    expect(after).toHaveLength(16)
    const next = after.slice(0, 5).map(({ headers }) => headers['webhook-id'])
    expect(next).toContain(retried)
  })

  test('sends nothing more when it was deleted', async () => {
    const { after } = await changeAfterFive(async ({ id }) => {
      expect((await app.delete(`/api/webhooks/${id}`)).status).toBe(204)
    })
    expect(after).toEqual([])
  })

  test('sends nothing more when it was switched off', async () => {
    const { after, webhook } = await changeAfterFive(({ id }) =>
      app.patch(`/api/webhooks/${id}`, { isActive: false }),
    )
    expect(after).toEqual([])
    expect(await deliveriesOf(app, webhook, '&outcome=pending')).toHaveLength(15)
  })
})
