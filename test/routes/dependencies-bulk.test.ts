import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { depending, errorsOf } from '../support/dependencies.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
let given: ReturnType<typeof depending>
beforeAll(async () => {
  service = await startApp()
  given = depending(service)
})
afterAll(() => service.close())

describe('blockedBy', () => {
  test('in a change of many is set for all or none', async () => {
    const { ids } = await given.tasks(4)
    const [first, second, third, blocker] = ids as [string, string, string, string]
    const change = (taskIds: string[], blockedBy: string[]) =>
      service.patch('/api/tasks/bulk', { ids: taskIds, change: { blockedBy } })

    const changed = await change([first, second], [blocker])
    expect(changed.body.data).toMatchObject([
      { id: first, blockedBy: [blocker], isReady: false },
      { id: second, blockedBy: [blocker], isReady: false },
    ])
    for (const task of changed.body.data) expect(await service.task(task.id)).toMatchObject(task)
    expect(errorsOf(await change([first, third], [UNKNOWN_ID, third]))).toEqual([
      404,
      'task_not_found',
      '/change/blockedBy/0 task_not_found',
      '/change/blockedBy/1 validation_failed',
    ])
    expect(errorsOf(await change([third, blocker], [second]))).toEqual([409, 'dependency_cycle'])
    expect((await service.task(third)).blockedBy).toEqual([])
  })

  test('in new tasks of a batch names every item that is refused', async () => {
    const { ids, inbox } = await given.tasks(1)
    const tasks = [
      { title: 'Good', blockedBy: [ids[0]] },
      { title: 'Bad', blockedBy: [ids[0], UNKNOWN_ID] },
      { title: '' },
    ]
    const bulk = (query = '') => service.post(`/api/tasks/bulk${query}`, { listId: inbox.id, tasks })
    expect(errorsOf(await bulk())).toEqual([
      400,
      'validation_failed',
      '/tasks/1/blockedBy/1 task_not_found',
      '/tasks/2/title too_short',
    ])
    const { status, body } = await bulk('?onError=continue')
    expect([status, body.created, body.failed]).toEqual([207, 1, 2])
    expect(body.results).toMatchObject([
      { status: 'created', task: { blockedBy: [ids[0]], isReady: false } },
      { status: 'failed', errors: [{ path: '/tasks/1/blockedBy/1', code: 'task_not_found' }] },
      { status: 'failed' },
    ])
  })

  test('of an existing task is updated, and may be what it was before', async () => {
    const { ids, inbox } = await given.tasks(2)
    const [first, second] = ids
    const send = (blockedBy: string[], query = '?onExisting=update') =>
      service.post(`/api/tasks${query}`, { title: 'T', listId: inbox.id, externalId: 'x-1', blockedBy })
    const { body: made } = await send([first])
    const updated = await send([first, second])
    expect(updated).toMatchObject({ status: 200, body: { id: made.id, blockedBy: [first, second] } })
    await service.delete(`/api/tasks/${first}`)
    expect((await send([first])).body.blockedBy).toEqual([first])
    expect(await send([first], '')).toMatchObject({ status: 200, body: { id: made.id } })
    await given.block(second, [made.id])
    expect(errorsOf(await send([second]))).toEqual([409, 'dependency_cycle'])
    const itself = await service.post('/api/tasks/bulk?onExisting=update', {
      listId: inbox.id,
      tasks: [{ title: 'T', externalId: 'x-1', blockedBy: [made.id] }],
    })
    expect(errorsOf(itself)).toEqual([409, 'dependency_cycle'])
    expect((await service.task(made.id)).blockedBy).toEqual([first])
  })

  test('in one request to two existing tasks makes no cycle', async () => {
    const { ids, inbox } = await given.tasks(0)
    expect(ids).toEqual([])
    const upsert = (blockers: Record<string, string[]>) =>
      service.post('/api/tasks/bulk?onExisting=update', {
        listId: inbox.id,
        tasks: ['a', 'b'].map((externalId) => ({
          title: externalId,
          externalId,
          blockedBy: blockers[externalId] ?? [],
        })),
      })
    const { body } = await upsert({})
    const [a, b] = body.data.map(({ id }: { id: string }) => id)
    const refused = await upsert({ a: [b], b: [a] })
    expect(errorsOf(refused)).toEqual([409, 'dependency_cycle'])
    expect(refused.body.cycle).toEqual([a, b])
    expect((await upsert({ a: [b] })).body).toMatchObject({ updated: 1, existing: 1 })
  })

  test('fails alone with onError=continue, if it makes a cycle', async () => {
    const { inbox } = await given.tasks(0)
    const send = (query: string, tasks: object[], key = 'none') =>
      service.post(
        `/api/tasks/bulk?${query}`,
        { listId: inbox.id, tasks },
        {
          headers: key === 'none' ? {} : { 'idempotency-key': key },
        },
      )
    const names = ['c1', 'c2', 'c3', 'c4']
    const { body } = await send(
      '',
      names.map((externalId) => ({ title: externalId, externalId })),
    )
    const [c1, c2, , c4] = body.data.map(({ id }: { id: string }) => id)
    const tasks = [
      { title: 'New' },
      { title: 'Second', externalId: 'c2', blockedBy: [c1] },
      { title: 'First', externalId: 'c1', blockedBy: [c2] },
      { title: 'Itself', externalId: 'c4', blockedBy: [c4] },
      { title: 'Third', externalId: 'c3', blockedBy: [c2] },
      { title: '' },
    ]
    for (const key of ['none', 'cycle-key', 'cycle-key']) {
      const { status, body } = await send('onExisting=update&onError=continue', tasks, key)
      expect([status, body.failed]).toEqual([207, 3])
      expect(body.results.map(({ status }: { status: string }) => status)).toEqual([
        ...['created', 'failed', key === 'none' ? 'updated' : 'existing'],
        ...['failed', key === 'none' ? 'updated' : 'existing', 'failed'],
      ])
      expect(body.results[1].errors).toEqual([
        { path: '/tasks/1', code: 'dependency_cycle', message: expect.stringContaining(c2) },
      ])
      expect(await service.task(c1)).toMatchObject({ title: 'First', blockedBy: [c2], version: 2 })
      expect(await service.task(c2)).toMatchObject({ title: 'c2', blockedBy: [], version: 1 })
    }
    // The repeated request created nothing more.
    expect(
      await service.query(`select from tasks where list_id = $1 and title = 'New'`, [inbox.id]),
    ).toHaveLength(2)
  })
})
