import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { POLLING, settled, writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const created = async () => (await service.post('/api/tasks', { title: 'Rejected' })).body
const patch = (id: string, change: object) => service.patch(`/api/tasks/${id}`, change)
const latestOf = async (id: string) => (await service.get(`/api/activity?taskId=${id}`)).body.data[0]
const NOT_PLANNED = { status: 'done', closedReason: 'not_planned' }

describe('a task that is completed with a reason', () => {
  test('has it until it is opened again', async () => {
    const { id } = await created()
    expect((await patch(id, NOT_PLANNED)).body).toMatchObject(NOT_PLANNED)
    expect(await latestOf(id)).toMatchObject({
      type: 'task.completed',
      metadata: { from: 'open', closedReason: 'not_planned' },
    })
    expect((await patch(id, NOT_PLANNED)).body.version).toBe(2)
    expect((await patch(id, { status: 'open' })).body).toMatchObject({ status: 'open', closedReason: null })
    expect((await patch(id, { status: 'done' })).body.closedReason).toBeNull()
  })

  test('can get another one', async () => {
    const { id } = await created()
    await patch(id, NOT_PLANNED)
    const { body } = await patch(id, { status: 'done', closedReason: 'completed' })
    expect(body).toMatchObject({ closedReason: 'completed', version: 3 })
    expect(await latestOf(id)).toMatchObject({
      type: 'task.updated',
      metadata: { changes: { closedReason: { from: 'not_planned', to: 'completed' } } },
    })
  })

  test.each([
    ['alone', { closedReason: 'not_planned' }],
    ['with another status', { status: 'open', closedReason: 'not_planned' }],
  ])('needs the status done: %s, the reason is refused', async (_, change) => {
    const { id } = await created()
    const single = await patch(id, change)
    expect([single.status, single.body.errors]).toEqual([
      400,
      [{ path: '/closedReason', code: 'conflict', message: 'is only allowed with the status done' }],
    ])
    const many = await service.patch('/api/tasks/bulk', { ids: [id], change })
    expect([many.status, many.body.errors[0].path]).toEqual([400, '/change/closedReason'])
  })

  test('takes no reason that only the code host gives', async () => {
    const { id } = await created()
    const { status, body } = await patch(id, { status: 'done', closedReason: 'merged' })
    expect([status, body.errors[0].path]).toEqual([400, '/closedReason'])
  })
})

describe('with write-back, an issue', () => {
  const writing = (items?: object[]) => writingBack(service, items)

  test('is closed as not planned, by a change, a bulk change, and an assistant', async () => {
    const { ids, repository, written } = await writing([{}, {}, {}])
    const [one = '', two = '', three = ''] = ids
    await patch(one, NOT_PLANNED)
    await service.patch('/api/tasks/bulk', { ids: [two], change: NOT_PLANNED })
    const params = { name: 'update_task', arguments: { id: three, ...NOT_PLANNED } }
    const headers = { accept: 'application/json, text/event-stream' }
    await service.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers })
    for (const id of ids) {
      expect(await settled(service, id)).toMatchObject({ ...NOT_PLANNED, writeBack: { state: 'done' } })
    }
    expect([...repository.items.values()].map(({ stateReason }) => stateReason)).toEqual(
      Array(3).fill('not_planned'),
    )
    expect(written().map(([, , body]) => body)).toEqual(
      Array(3).fill({ state: 'closed', state_reason: 'not_planned' }),
    )
  })

  test('keeps its reason when it is synced before it is written', async () => {
    const { id, repository, restrict, sync } = await writing()
    restrict({ canWriteIssues: false })
    await patch(id, NOT_PLANNED)
    expect((await settled(service, id)).writeBack.state).toBe('failed')
    repository.change(1, { title: 'Renamed meanwhile' })
    await sync()
    expect(await service.task(id)).toMatchObject({ ...NOT_PLANNED, title: 'Renamed meanwhile' })
    restrict({ login: 'inlet-bot' })
    await service.post(`/api/tasks/${id}/write-back/retry`)
    await settled(service, id)
    expect(repository.items.get(1)).toMatchObject({ state: 'closed', stateReason: 'not_planned' })
  })

  test.each([
    ['before that is written', { status: 502 }],
    ['after writing that has failed', { status: 403, body: '{"message":"Resource not accessible"}' }],
  ])('that was reopened here is closed again as it was, %s', async (_, refusal) => {
    const { id, repository, written } = await writing([{ state: 'closed', stateReason: 'not_planned' }])
    const matches = ({ url }: { url: string }) => url.endsWith(`/${repository.id}/issues/1`)
    service.host.fault(refusal, { times: 100, matches })
    await patch(id, { status: 'open' })
    await vi.waitFor(async () => expect((await service.task(id)).writeBack.error).not.toBeNull(), POLLING)

    const { status, body } = await patch(id, NOT_PLANNED)

    expect([status, body]).toEqual([200, expect.objectContaining(NOT_PLANNED)])
    service.host.heal()
    await service.query(`update codehost_writes set next_attempt_at = now() where task_id = $1`, [id])
    expect(await settled(service, id)).toMatchObject(NOT_PLANNED)
    expect(repository.items.get(1)).toMatchObject({ state: 'closed', stateReason: 'not_planned' })
    expect(written()).toEqual([])
  })

  test('that is closed there keeps the reason that it has there', async () => {
    const { id } = await writing([{ state: 'closed', stateReason: 'completed' }])
    const { status, body } = await patch(id, NOT_PLANNED)
    expect([status, body.code]).toEqual([403, 'managed_by_codehost'])
    expect((await patch(id, { status: 'done', closedReason: 'completed' })).status).toBe(200)
  })
})
