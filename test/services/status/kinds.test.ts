import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Pipe } from '../../../src/schemas/status.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { connectedForPush } from '../../support/pushed.ts'
import { pipeOf, typesOf } from '../../support/status.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { deliverDue, SENDING_ENV, startReceiver, webhookTo } from '../../support/webhooks.ts'
import { POLLING, settled, writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ env: SENDING_ENV })
})
afterAll(() => service.close())

type Name = Pick<Pipe, 'kind' | 'id'>

/** Resolves when it has this state: jobs note it in the background. */
const untilState = (name: Name, state: Pipe['state']) =>
  vi.waitFor(async () => {
    const pipe = await pipeOf(service, name)
    expect(pipe.state).toBe(state)
    return pipe
  }, POLLING)

const connectionOf = async (projectId: string): Promise<string> =>
  (await service.get(`/api/projects/${projectId}/codehost`)).body.id

describe('a repository', () => {
  test('fails to sync while its token is refused, until it has another one', async () => {
    const token = randomUUID()
    service.host.tokens.set(token, {})
    const { project, repository, sync } = await service.connected({ token }, 2)
    const name: Name = { kind: 'sync', id: await connectionOf(project.id) }
    expect(await pipeOf(service, name)).toMatchObject({
      state: 'off',
      name: repository.name,
      projectId: project.id,
    })
    await sync()
    expect(await untilState(name, 'ok')).toMatchObject({ lastError: null })

    service.host.tokens.delete(token)
    expect((await sync()).status).toBe('failed')
    expect(await untilState(name, 'failing')).toMatchObject({
      lastError: { code: 'codehost_token_rejected', detail: expect.stringContaining('token') },
    })

    const renewed = randomUUID()
    service.host.tokens.set(renewed, {})
    await service.put(`/api/projects/${project.id}/codehost`, { repository: repository.name, token: renewed })
    await sync()
    await untilState(name, 'ok')
    expect(await typesOf(service, name)).toEqual(['pipe.failed', 'pipe.recovered'])
  })

  test('fails to report changes with another secret, until it has the right one', async () => {
    const { webhook, opened, path } = await connectedForPush(service)
    const { id } = (await service.get(path)).body
    const name: Name = { kind: 'push', id }
    expect((await deliver({ ...webhook, secret: 'another' }, opened())).status).toBe(401)
    expect(await untilState(name, 'failing')).toMatchObject({ lastError: { code: 'invalid_credentials' } })
    expect((await deliver(webhook, opened())).status).toBe(202)
    await untilState(name, 'ok')
    expect(await typesOf(service, name)).toEqual(['pipe.failed', 'pipe.recovered'])
  })

  test('fails to report changes that have to be read at the code host and cannot', async () => {
    const token = randomUUID()
    service.host.tokens.set(token, {})
    const { project, repository, sync } = await service.connected({ token })
    repository.issue()
    await sync()
    const path = `/api/projects/${project.id}/codehost`
    const webhook = (await service.post(`${path}/webhook-secret`)).body
    // In the second of what is stored: which of both is newer, only the code host knows.
    const report = (title: string) => {
      const item = repository.change(1, { title }, 0)
      item.updatedAt = item.createdAt
      const about = { api: service.host.url, repository: repository.about, action: 'edited' }
      return deliver(webhook, itemDelivery(item, about))
    }
    const name: Name = { kind: 'push', id: await connectionOf(project.id) }
    service.host.tokens.delete(token)
    await report('One')
    expect((await untilState(name, 'failing')).lastError?.code).toMatch(/^codehost_/)
    service.host.tokens.set(token, {})
    await report('Two')
    await untilState(name, 'ok')
  })

  test('fails to be written to while the token may not, until it may', async () => {
    const { project, id, restrict } = await writingBack(service)
    const name: Name = { kind: 'write_back', id: await connectionOf(project.id) }
    restrict({ canWriteIssues: false })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await settled(service, id)
    expect(await untilState(name, 'failing')).toMatchObject({
      lastError: { code: 'codehost_access_denied', detail: expect.stringContaining('cannot write') },
    })
    restrict({ login: 'inlet-bot' })
    await service.post(`/api/tasks/${id}/write-back/retry`)
    await settled(service, id)
    await untilState(name, 'ok')
    expect(await typesOf(service, name)).toEqual(['pipe.failed', 'pipe.recovered'])
  })

  test('is gone with its connection, in all three ways', async () => {
    const { project, sync } = await service.connected({}, 1)
    const id = await connectionOf(project.id)
    await sync()
    await untilState({ kind: 'sync', id }, 'ok')
    expect(await pipeOf(service, { kind: 'write_back', id })).toMatchObject({ state: 'off' })
    expect(await pipeOf(service, { kind: 'push', id })).toMatchObject({ state: 'off' })
    await service.delete(`/api/projects/${project.id}/codehost`)
    const { body } = await service.get('/api/status')
    expect(body.data.map((pipe: Pipe) => pipe.id)).not.toContain(id)
    expect(await service.query('select from pipes where id = $1', [id])).toEqual([])
  })
})

describe('an outgoing webhook', () => {
  test('fails while its receiver responds with 500, until it responds', async () => {
    const receiver = await startReceiver()
    const { id } = await webhookTo(service, { url: receiver.url, types: ['task.created'] })
    const name: Name = { kind: 'webhook', id }
    receiver.respondWith(500)
    await service.post('/api/tasks', { title: 'One' })
    await deliverDue(service)
    expect(await untilState(name, 'failing')).toMatchObject({
      name: 'A receiver',
      projectId: null,
      lastError: { code: 'receiver_failed', detail: 'The receiver responded with 500.' },
    })
    receiver.respondWith(204)
    const [delivery] = (await service.get(`/api/webhooks/${id}/deliveries`)).body.data
    await service.post(`/api/webhooks/${id}/deliveries/${delivery.id}/retry`)
    await deliverDue(service)
    await untilState(name, 'ok')
    expect(await typesOf(service, name)).toEqual(['pipe.failed', 'pipe.recovered'])

    receiver.respondWith(410)
    await service.post('/api/tasks', { title: 'Two' })
    await deliverDue(service)
    expect((await service.get(`/api/webhooks/${id}`)).body).toMatchObject({ isActive: false })
    expect(await pipeOf(service, name)).toMatchObject({ state: 'failing' })
    await service.patch(`/api/webhooks/${id}`, { isActive: true })
    await service.patch(`/api/webhooks/${id}`, { isActive: false })
    expect(await pipeOf(service, name)).toMatchObject({ state: 'off' })
    await service.delete(`/api/webhooks/${id}`)
    await receiver.close()
  })

  test('that was tested works, or fails', async () => {
    const receiver = await startReceiver()
    const { id } = await webhookTo(service, { url: receiver.url })
    for (const [status, state] of [
      [500, 'failing'],
      [204, 'ok'],
    ] as const) {
      receiver.respondWith(status)
      await service.post(`/api/webhooks/${id}/test`)
      expect(await pipeOf(service, { kind: 'webhook', id })).toMatchObject({ state })
    }
    await service.delete(`/api/webhooks/${id}`)
    await receiver.close()
  })
})
