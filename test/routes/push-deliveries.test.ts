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
  const inbox = `/api/deliveries?projectId=${project.id}`
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
          expect(data.map(({ outcome }: { outcome: string }) => outcome)).not.toContain('pending')
          return data
        },
        { timeout: 15_000, interval: 50 },
      ),
  }
}

const withoutPayload = ({ payload, payloadCut, ...listed }: Record<string, unknown>) => listed

describe('the deliveries of a connection', () => {
  test('are listed newest first, in pages, by outcome', async () => {
    const { project, send, open, ping, applied, listed } = await pushed()
    await ping()
    await open()
    await open()
    await send({ event: 'push', payload: {} })
    const all = await applied()
    expect(all.map(({ event }: { event: string }) => event)).toEqual([
      'push',
      'issues.opened',
      'issues.opened',
      'ping',
    ])
    const { data: tasks } = (await service.get(`/api/tasks?projectId=${project.id}&sort=createdAt`)).body
    expect(all[2]).toEqual({
      id: expect.any(String),
      receiver: 'codehost',
      sourceId: null,
      projectId: project.id,
      senderId: expect.any(String),
      title: tasks[0].title,
      number: 1,
      event: 'issues.opened',
      outcome: 'accepted',
      reason: null,
      duplicates: 0,
      attempts: 0,
      receivedAt: expect.any(String),
      tasks: [{ taskId: tasks[0].id, created: true }],
      routing: null,
      errors: null,
      hasPayload: true,
    })
    expect(all[0]).toMatchObject({ outcome: 'ignored', reason: 'event_ignored' })
    const first = await listed('&limit=3')
    const second = await listed(`&limit=3&cursor=${first.nextCursor}`)
    expect([...first.data, ...second.data]).toEqual(all)
    expect(second.nextCursor).toBeNull()
    expect((await listed('&outcome=ignored')).data).toEqual([all[0]])
    expect((await listed(`&since=${new Date(Date.now() + 60_000).toISOString()}`)).data).toEqual([])
    expect((await listed(`&since=${all[0].receivedAt}&receiver=codehost`)).data[0]).toEqual(all[0])
    expect((await listed('&receiver=feedback')).data).toEqual([])
  })

  test('have their payload, and are replayed with what is stored since', async () => {
    const { project, repository, open, applied } = await pushed()
    await open()
    const [delivery] = await applied()
    const path = `/api/deliveries/${delivery.id}`
    const whole = (await service.get(path)).body
    expect(withoutPayload(whole)).toEqual(delivery)
    expect(whole).toMatchObject({ payload: { action: 'opened', issue: { number: 1 } }, payloadCut: false })
    repository.change(1, { title: 'Newer' })
    await service.sync(project.id)
    await service.query('delete from tasks where project_id = $1', [project.id])
    const replayed = await service.post(`${path}/replay`)
    expect([replayed.status, replayed.body.outcome]).toEqual([200, 'pending'])
    expect(await applied()).toMatchObject([{ outcome: 'accepted', reason: null }])
    expect((await service.tasksOf(project.id)).get(1).title).toBe('Item 1')
    await service.sync(project.id, '?mode=full')
    await service.post(`${path}/replay`)
    expect(await applied()).toMatchObject([{ outcome: 'updated', reason: 'outdated' }])
    expect((await service.tasksOf(project.id)).get(1).title).toBe('Newer')
  })

  test('show the beginning of a payload that is larger than 256 KiB, and are replayed with all of it', async () => {
    const { repository, send, applied } = await pushed()
    const item = repository.issue({ body: 'é'.repeat(200_000) })
    await send(itemDelivery(item, { api: service.host.url, repository: repository.about, action: 'opened' }))
    const [{ id }] = await applied()
    const { body } = await service.get(`/api/deliveries/${id}`)
    expect([body.payloadCut, Buffer.byteLength(body.payload) <= 262_144]).toEqual([true, true])
    await service.post(`/api/deliveries/${id}/replay`)
    expect(await applied()).toMatchObject([{ id, outcome: 'updated' }])
  })

  test('show that the webhook works', async () => {
    const { path, ping, applied } = await pushed()
    expect((await service.get(path)).body.webhook.lastDeliveryAt).toBeNull()
    await ping()
    const [delivery] = await applied()
    expect(delivery).toMatchObject({ event: 'ping', outcome: 'accepted' })
    expect((await service.get(path)).body.webhook.lastDeliveryAt).toBe(delivery.receivedAt)
  })

  test('cannot be replayed without their payload', async () => {
    const { send, listed } = await pushed()
    await send({ event: 'push', payload: {} })
    const [{ id }] = (await listed()).data
    const response = await service.post(`/api/deliveries/${id}/replay`)
    expect([response.status, response.body.code]).toEqual([409, 'delivery_not_replayable'])
  })

  test('belong to their project, and only admin keys read payloads and replay', async () => {
    const [one, other] = [await pushed(), await pushed()]
    await one.open()
    const [{ id }] = await one.applied()
    const path = `/api/deliveries/${id}`
    const bound = await service.given.key({ scopes: ['admin'], projectId: other.project.id })
    expect((await service.get('/api/deliveries', { key: bound })).body.data).toEqual([])
    expect((await service.get(one.inbox, { key: bound })).body.data).toEqual([])
    expect((await service.get(path, { key: bound })).body.code).toBe('delivery_not_found')
    expect((await service.post(`${path}/replay`, {}, { key: bound })).body.code).toBe('delivery_not_found')
    const ofOne = await service.given.key({ scopes: ['tasks:read'], projectId: one.project.id })
    for (const key of [ofOne, await service.given.key({ scopes: ['tasks:read', 'codehost:sync'] })]) {
      const { status, body } = await service.get(one.inbox, { key })
      expect([status, body.data]).toMatchObject([200, [{ id, outcome: 'accepted' }]])
      const read = await service.get(path, { key })
      expect([read.status, read.body]).toEqual([200, body.data[0]])
      expect((await service.post(`${path}/replay`, {}, { key })).body.code).toBe('insufficient_scope')
    }
    const writer = await service.given.key({ scopes: ['tasks:write'] })
    expect((await service.get(one.inbox, { key: writer })).body.code).toBe('insufficient_scope')
  })

  test('lose their payload after 30 days, and are deleted after 7 if they were ignored', async () => {
    const { send, open, applied, listed } = await pushed()
    await open()
    await send({ event: 'push', payload: {} })
    await applied()
    await service.service.cleanup.cleanUp()
    expect((await listed()).data).toHaveLength(2)
    await service.query(`update deliveries set id = ('019a0000' || substr(id::text, 9))::uuid`)
    await service.service.cleanup.cleanUp()
    const { data } = await listed()
    expect(data).toMatchObject([{ event: 'issues.opened' }])
    expect((await service.get(`/api/deliveries/${data[0].id}`)).body.payload).toBeNull()
  })
})
