import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { deliver, type HostDelivery, itemDelivery } from '../support/code-host-deliveries.ts'
import { repositoryJson } from '../support/code-host-items.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

async function pushed() {
  const { project, repository } = await service.connected()
  const path = `/api/projects/${project.id}/codehost`
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const inbox = `/api/codehost/${project.id}/deliveries`
  const { about } = repository
  const send = (delivery: HostDelivery) => deliver(webhook, delivery)
  const listed = async (query = '') => (await service.get(inbox + query)).body
  return {
    project,
    repository,
    path,
    inbox,
    send,
    listed,
    ping: () =>
      send({ event: 'ping', payload: { zen: 'x', repository: repositoryJson(service.host.url, about) } }),
    open: () =>
      send(itemDelivery(repository.issue(), { api: service.host.url, repository: about, action: 'opened' })),
    applied: () =>
      vi.waitFor(
        async () => {
          const { data } = await listed()
          expect(data.map(({ status }: { status: string }) => status)).not.toContain('received')
          return data
        },
        { timeout: 15_000, interval: 50 },
      ),
  }
}

describe('the deliveries of a connection', () => {
  test('are listed newest first, in pages, by status, each with its outcome', async () => {
    const { project, send, open, ping, applied, listed } = await pushed()
    await ping()
    await open()
    await open()
    await send({ event: 'push', payload: {} })
    const all = await applied()
    expect(all.map(({ event }: { event: string }) => event)).toEqual(['push', 'issues', 'issues', 'ping'])
    const { data: tasks } = (await service.get(`/api/tasks?projectId=${project.id}&sort=createdAt`)).body
    expect(all[2]).toEqual({
      id: expect.any(String),
      deliveryId: expect.any(String),
      event: 'issues',
      action: 'opened',
      number: 1,
      status: 'applied',
      reason: null,
      attempts: 0,
      taskId: tasks[0].id,
      isReplayable: true,
      payloadBytes: expect.any(Number),
      receivedAt: expect.any(String),
      appliedAt: expect.any(String),
      nextAttemptAt: null,
    })
    expect(all[0]).toMatchObject({ status: 'dropped', reason: 'event_ignored', isReplayable: false })
    const first = await listed('?limit=3')
    const second = await listed(`?limit=3&cursor=${first.nextCursor}`)
    expect([...first.data, ...second.data]).toEqual(all)
    expect(second.nextCursor).toBeNull()
    expect((await listed('?status=dropped')).data).toEqual([all[0]])
  })

  test('have their payload, and are replayed with what is stored since', async () => {
    const { project, repository, inbox, open, applied } = await pushed()
    await open()
    const [delivery] = await applied()
    const whole = (await service.get(`${inbox}/${delivery.id}`)).body
    expect(whole).toMatchObject({ ...delivery, payload: { action: 'opened', issue: { number: 1 } } })
    repository.change(1, { title: 'Newer' })
    await service.sync(project.id)
    await service.query('delete from tasks where project_id = $1', [project.id])
    const replayed = await service.post(`${inbox}/${delivery.id}/replay`)
    expect([replayed.status, replayed.body.status]).toEqual([200, 'received'])
    expect(await applied()).toMatchObject([{ status: 'applied', reason: null }])
    expect((await service.tasksOf(project.id)).get(1).title).toBe('Item 1')
    await service.sync(project.id, '?mode=full')
    await service.post(`${inbox}/${delivery.id}/replay`)
    expect(await applied()).toMatchObject([{ status: 'applied', reason: 'outdated' }])
    expect((await service.tasksOf(project.id)).get(1).title).toBe('Newer')
  })

  test('show that the webhook works', async () => {
    const { path, ping, applied } = await pushed()
    expect((await service.get(path)).body.webhook.lastDeliveryAt).toBeNull()
    await ping()
    const [delivery] = await applied()
    expect(delivery).toMatchObject({ event: 'ping', status: 'applied' })
    expect((await service.get(path)).body.webhook.lastDeliveryAt).toBe(delivery.receivedAt)
  })

  test('cannot be replayed without their payload', async () => {
    const { inbox, send, listed } = await pushed()
    await send({ event: 'push', payload: {} })
    const [{ id }] = (await listed()).data
    const response = await service.post(`${inbox}/${id}/replay`)
    expect([response.status, response.body.code]).toEqual([409, 'delivery_not_replayable'])
  })

  test('belong to their project, and only admin keys read payloads and replay', async () => {
    const [one, other] = [await pushed(), await pushed()]
    await one.open()
    const [{ id }] = await one.applied()
    expect((await service.get(`${other.inbox}/${id}`)).body.code).toBe('delivery_not_found')
    expect((await service.post(`${other.inbox}/${id}/replay`)).body.code).toBe('delivery_not_found')
    const bound = await service.given.key({ scopes: ['admin'], projectId: other.project.id })
    expect((await service.get(other.inbox, { key: bound })).status).toBe(200)
    expect((await service.get(one.inbox, { key: bound })).body.code).toBe('project_not_found')
    const reader = await service.given.key({ scopes: ['tasks:read', 'codehost:sync'] })
    const read = await service.get(one.inbox, { key: reader })
    expect([read.status, read.body.data]).toMatchObject([200, [{ id, status: 'applied' }]])
    expect(Object.keys(read.body.data[0])).not.toContain('payload')
    expect((await service.get(`${one.inbox}/${id}`, { key: reader })).body.code).toBe('insufficient_scope')
    const ofOne = await service.given.key({ scopes: ['tasks:read'], projectId: one.project.id })
    expect((await service.get(one.inbox, { key: ofOne })).status).toBe(200)
    expect((await service.get(other.inbox, { key: ofOne })).body.code).toBe('project_not_found')
    const writer = await service.given.key({ scopes: ['tasks:write'] })
    expect((await service.get(one.inbox, { key: writer })).body.code).toBe('insufficient_scope')
    const project = await service.given.project()
    expect((await service.get(`/api/codehost/${project.id}/deliveries`)).body.code).toBe(
      'connection_not_found',
    )
  })

  test('lose their payload after 30 days, and are deleted after 7 if they were dropped', async () => {
    const { inbox, send, open, applied, listed } = await pushed()
    await open()
    await send({ event: 'push', payload: {} })
    await applied()
    const age = (days: number) =>
      service.query(
        `update codehost_deliveries set id = ('019a0000' || substr(id::text, 9))::uuid where status = $1`,
        [days === 30 ? 'applied' : 'dropped'],
      )
    await service.service.cleanup.cleanUp()
    expect((await listed()).data).toHaveLength(2)
    await age(7)
    await age(30)
    await service.service.cleanup.cleanUp()
    const { data } = await listed()
    expect(data).toMatchObject([{ event: 'issues', isReplayable: false }])
    expect((await service.get(`${inbox}/${data[0].id}`)).body.payload).toBeNull()
  })
})
