import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { deliver, type HostDelivery } from '../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { applied, attempted, POLLING, settled, writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({
    tokens: {
      guest: { isCollaborator: false },
    },
  })
})
afterAll(() => service.close())

const writing = (items?: object[], connection?: object) => writingBack(service, items, connection)
const patch = (id: string, change: object) => service.patch(`/api/tasks/${id}`, change)

const activityOf = async (id: string, type = '') =>
  (await service.get(`/api/activity?taskId=${id}${type && `&type=${type}`}`)).body.data

describe('with write-back of the state', () => {
  test('completing a task closes its issue, and reopening it opens the issue', async () => {
    const { id, repository, written } = await writing()
    const completed = await patch(id, { status: 'done' })
    expect(completed.body.writeBack).toEqual({ state: 'pending', error: null })
    expect(await settled(service, id)).toMatchObject({
      status: 'done',
      closedReason: 'completed',
      writeBack: { state: 'done', error: null },
    })
    expect(repository.items.get(1)).toMatchObject({ state: 'closed', stateReason: 'completed' })

    expect((await patch(id, { status: 'in_progress' })).body).toMatchObject({ closedReason: null })
    expect(await settled(service, id)).toMatchObject({
      status: 'in_progress',
      closedReason: null,
      completedAt: null,
    })
    expect(repository.items.get(1)).toMatchObject({ state: 'open' })
    await patch(id, { status: 'open' })
    expect(written()).toEqual([
      ['PATCH', '/issues/1', { state: 'closed', state_reason: 'completed' }],
      ['PATCH', '/issues/1', { state: 'open' }],
    ])
  })

  test('what was written makes no activity when it comes back, by push or by poll', async () => {
    const { id, project, repository, path, sync } = await writing()
    const webhook = (await service.post(`${path}/webhook-secret`)).body
    const deliveries: HostDelivery[] = []
    service.host.onChange(({ delivery }) => deliveries.push(delivery))
    await patch(id, { status: 'done' })
    const after = await settled(service, id)
    const log = (await activityOf(id)).map(({ type }: { type: string }) => type)
    expect(log).toEqual(['task.completed', 'task.created'])

    for (const delivery of deliveries) expect((await deliver(webhook, delivery)).status).toBe(202)
    await applied(service, project.id)
    expect(await sync()).toMatchObject({ issues: { updated: 0, closed: 0, reopened: 0 } })
    expect(await sync('?mode=full')).toMatchObject({ issues: { updated: 0, closed: 0, reopened: 0 } })
    expect(await service.task(id)).toEqual(after)
    expect(await activityOf(id)).toHaveLength(2)
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('a delivery that overtakes the response of the write is no change, either', async () => {
    const { id, path } = await writing()
    const webhook = (await service.post(`${path}/webhook-secret`)).body
    const reported = Promise.withResolvers<void>()
    service.host.onChange(({ delivery }) => void deliver(webhook, delivery).then(() => reported.resolve()))
    service.host.onResponse(async ({ method }) => {
      if (method !== 'PATCH') return
      await reported.promise
      await vi.waitFor(async () => expect((await service.task(id)).closedReason).toBe('completed'), POLLING)
    })
    await patch(id, { status: 'done' })
    await settled(service, id)
    service.host.onResponse(() => {})
    service.host.onChange(() => {})
    expect((await activityOf(id)).map(({ type }: { type: string }) => type)).toEqual([
      'task.completed',
      'task.created',
    ])
  })

  test('many tasks changed at once, and by an assistant, are written', async () => {
    const { ids, repository } = await writing([{}, {}, {}])
    const { body } = await service.patch('/api/tasks/bulk', { ids, change: { status: 'done' } })
    expect(body.data.map(({ writeBack }: { writeBack: object }) => writeBack)).toEqual(
      ids.map(() => ({ state: 'pending', error: null })),
    )
    for (const id of ids) await settled(service, id)
    expect([...repository.items.values()].map(({ state }) => state)).toEqual(['closed', 'closed', 'closed'])
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    const params = { name: 'update_task', arguments: { id: ids[0], status: 'open' } }
    const headers = { accept: 'application/json, text/event-stream' }
    await service.post('/mcp', { ...call, params }, { headers })
    await vi.waitFor(() => expect(repository.items.get(1)?.state).toBe('open'), POLLING)
  })

  test('pull requests and other tasks are never written, and stay closed', async () => {
    const { ids, written, repository, project } = await writing([
      { mergedAt: null },
      { mergedAt: null, state: 'closed' },
    ])
    expect((await patch(ids[0] ?? '', { status: 'done' })).body.writeBack).toBeNull()
    const refused = await patch(ids[1] ?? '', { status: 'open' })
    expect([refused.status, refused.body.code]).toEqual([409, 'closed_at_codehost'])
    const { data } = (await service.get(`/api/projects/${project.id}/lists`)).body
    const own = (await service.post('/api/tasks', { title: 'Made here', listId: data[0].id })).body
    expect((await patch(own.id, { status: 'done' })).body.writeBack).toBeNull()
    const rows = await service.query('select from codehost_writes where task_id = any($1)', [
      [...ids, own.id],
    ])
    expect(rows).toEqual([])
    expect(written()).toEqual([])
    expect(repository.items.get(1)?.state).toBe('open')
  })

  test('a change that is undone before it is written leaves the issue as it is', async () => {
    const { id, repository, written } = await writing()
    service.host.fault({ status: 502 }, { matches: ({ url }) => url.endsWith(`/${repository.id}/issues/1`) })
    await patch(id, { status: 'done' })
    await attempted(service, id)
    expect((await patch(id, { status: 'open' })).body.writeBack.state).toBe('pending')
    service.host.heal()
    await service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(written()).toEqual([])
  })
})

describe('the setting of write-back', () => {
  test('is off by default, and nothing is written of changes before it was on', async () => {
    const { ids, set, path, written } = await writing([{}, {}], { writeBack: undefined })
    expect((await service.get(path)).body.writeBack).toBe('off')
    expect((await patch(ids[0] ?? '', { status: 'done' })).body.writeBack).toBeNull()
    expect((await set({ writeBack: 'state' })).body.writeBack).toBe('state')
    expect((await set({ schedule: 'daily' })).body.writeBack).toBe('state')
    await patch(ids[1] ?? '', { status: 'done' })
    await settled(service, ids[1] ?? '')
    expect(written().map(([, path]) => path)).toEqual(['/issues/2'])
    const [changed] = (await service.get('/api/activity?type=connection.updated')).body.data
    expect(changed.metadata.changes).toEqual({ schedule: { from: 'off', to: 'daily' } })
  })

  test.each([
    ['a token that may not change issues', 'guest'],
    ['no token', null],
  ])('is refused with %s', async (_, token) => {
    const { set, path } = await writing([], { writeBack: 'off' })
    const refused = await set({ token, writeBack: 'comments' })
    expect([refused.status, refused.body.code]).toEqual([422, 'codehost_access_denied'])
    expect((await set({ writeBack: 'everything' })).status).toBe(400)
    expect((await service.get(path)).body.writeBack).toBe('off')
  })

  test('decides whether an issue that is closed there can be reopened here', async () => {
    const { id, set, repository } = await writing([{ state: 'closed' }], { writeBack: 'off' })
    const single = await patch(id, { status: 'open' })
    expect([single.status, single.body.code]).toEqual([409, 'closed_at_codehost'])
    const many = await service.patch('/api/tasks/bulk', { ids: [id], change: { status: 'open' } })
    expect([many.status, many.body.code]).toEqual([409, 'closed_at_codehost'])
    expect((await patch(id, { notes: 'Still editable' })).status).toBe(200)
    await set({ writeBack: 'state' })
    expect((await patch(id, { status: 'open' })).status).toBe(200)
    await settled(service, id)
    expect(repository.items.get(1)?.state).toBe('open')
  })

  test('turned off gives up what is not written yet, and so does disconnecting', async () => {
    for (const end of ['off', 'disconnect', 'other'] as const) {
      const { id, set, path, project } = await writing()
      const isRepository = ({ url }: { url: string }) => url.includes('/issues/1')
      service.host.fault({ status: 503 }, { times: 100, matches: isRepository })
      await patch(id, { status: 'done' })
      await attempted(service, id)
      if (end === 'off') await set({ writeBack: 'off' })
      if (end === 'disconnect') expect((await service.delete(path)).status).toBe(204)
      if (end === 'other') {
        service.host.repository(`acme/other-${project.id}`)
        await service.put(path, { repository: `acme/other-${project.id}` })
      }
      expect((await service.task(id)).writeBack).toBeNull()
      expect(await service.query('select from codehost_writes where task_id = $1', [id])).toEqual([])
      service.host.heal()
    }
  })
})
