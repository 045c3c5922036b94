import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const LATER = '2100-03-28T01:30:00.000Z'

async function given(values: object = {}) {
  const { id: projectId, inbox } = await service.given.project()
  const { body } = await service.post('/api/tasks', { title: 'Crash', listId: inbox.id, ...values })
  return { ...body, projectId, inbox }
}

const read = async (id: string) => (await service.get(`/api/tasks/${id}`)).body

/** Ends the snooze of a task by the clock of the database, and lets the worker see it. */
async function pass(id: string) {
  await service.query(`update tasks set snoozed_until = clock_timestamp() where id = $1`, [id])
  while (await service.service.tasks.wake());
}

describe('a snooze', () => {
  test('ends in the future', async () => {
    const { id, inbox } = await given()
    for (const snoozedUntil of ['2026-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z']) {
      const refused = [
        await service.patch(`/api/tasks/${id}`, { snoozedUntil }),
        await service.patch('/api/tasks/bulk', { ids: [id], change: { snoozedUntil } }),
        await service.post('/api/tasks', { title: 'x', snoozedUntil }),
        await service.post('/api/tasks/bulk', { listId: inbox.id, tasks: [{ title: 'x', snoozedUntil }] }),
      ]
      const paths = ['/snoozedUntil', '/change/snoozedUntil', '/snoozedUntil', '/tasks/0/snoozedUntil']
      for (const [index, { status, body }] of refused.entries()) {
        expect([status, body.code]).toEqual([400, 'validation_failed'])
        expect(body.errors).toEqual([
          { path: paths[index], code: 'out_of_range', message: 'must be in the future' },
        ])
      }
    }
    expect((await service.patch(`/api/tasks/${id}`, { snoozedUntil: '10000-01-01T00:00:00Z' })).status).toBe(
      400,
    )
    const last = '9999-12-31T23:59:59.999Z'
    expect((await service.patch(`/api/tasks/${id}`, { snoozedUntil: last })).body.snoozedUntil).toBe(last)
  })

  test('of one task of a batch does not prevent the others', async () => {
    const { inbox } = await given()
    const tasks = [{ title: 'a', snoozedUntil: '2026-01-01T00:00:00.000Z' }, { title: 'b' }]
    const { body } = await service.post('/api/tasks/bulk?onError=continue', { listId: inbox.id, tasks })
    expect([body.created, body.failed]).toEqual([1, 1])
  })

  test('that has passed is left out where a create is repeated by its external id', async () => {
    const { inbox, id } = await given({ externalId: 'again' })
    const body = {
      title: 'Crash',
      listId: inbox.id,
      externalId: 'again',
      snoozedUntil: '2026-01-01T00:00:00.000Z',
    }
    const alone = await service.post('/api/tasks', body)
    expect([alone.status, alone.body.id, alone.body.snoozedUntil]).toEqual([200, id, null])
    const { listId, ...task } = body
    const bulk = await service.post('/api/tasks/bulk', {
      listId,
      tasks: [task, { ...task, externalId: 'new' }],
    })
    expect([bulk.body.existing, bulk.body.created]).toEqual([1, 1])
  })

  test('is replayed with the response of its request after it has passed', async () => {
    const { inbox } = await given()
    const soon = new Date(Date.now() + 1_500).toISOString()
    const create = () =>
      service.post(
        '/api/tasks',
        { title: 'x', listId: inbox.id, snoozedUntil: soon },
        { headers: { 'idempotency-key': `snooze-${inbox.id}` } },
      )
    const first = await create()
    expect(first.status).toBe(201)
    while (Date.now() <= Date.parse(soon)) await new Promise((resolve) => setTimeout(resolve, 50))
    const second = await create()
    expect([second.status, second.body]).toEqual([201, first.body])
  })

  test('keeps work from beginning, and says so', async () => {
    const { id, projectId } = await given({ snoozedUntil: LATER })
    expect(await read(id)).toMatchObject({ snoozedUntil: LATER, isReady: false })
    const claim = await service.post(`/api/tasks/${id}/claim`)
    expect([claim.status, claim.body.code]).toEqual([409, 'task_not_ready'])
    expect(claim.body.detail).toMatch(/snoozed/)
    expect((await service.post('/api/tasks/claim', { projectId })).status).toBe(204)
    await service.patch(`/api/tasks/${id}`, { snoozedUntil: null })
    expect((await service.post('/api/tasks/claim', { projectId })).status).toBe(200)
  })

  test('is over at its time: the task is to be triaged again, once, with an activity', async () => {
    const { id, version } = await given({ triaged: true, snoozedUntil: LATER })
    await pass(id)
    await service.service.tasks.wake()
    expect(await read(id)).toMatchObject({
      ...{ snoozedUntil: null, triaged: false, isReady: true, version: version + 1 },
    })
    const log = await service.query(
      `select type, actor_type, metadata from activity where task_id = $1 and type = 'task.woken'`,
      [id],
    )
    expect(log).toMatchObject([{ type: 'task.woken', actor_type: 'system', metadata: { triaged: false } }])
  })

  test('leaves tasks of a project without triage as they were, next to those of others', async () => {
    const other = await given({ triaged: true, snoozedUntil: LATER })
    const { id, version, projectId, inbox } = await given({ triaged: true, snoozedUntil: LATER })
    const { body: put } = await service.post('/api/tasks', { title: 'Put there', listId: inbox.id })
    await service.patch(`/api/tasks/${put.id}`, { triaged: false, snoozedUntil: LATER })
    await service.patch(`/api/projects/${projectId}`, { triage: 'off' })
    await service.query('update tasks set snoozed_until = clock_timestamp() where id = any($1)', [
      [other.id, id, put.id],
    ])
    while (await service.service.tasks.wake());
    expect(await read(id)).toMatchObject({ snoozedUntil: null, triaged: true, version: version + 1 })
    expect(await read(put.id)).toMatchObject({ snoozedUntil: null, triaged: false })
    expect(await read(other.id)).toMatchObject({ snoozedUntil: null, triaged: false })
    const log = await service.query(
      `select metadata ->> 'triaged' as triaged from activity where task_id = $1 and type = 'task.woken'`,
      [id],
    )
    expect(log).toEqual([{ triaged: 'true' }])
  })

  test('of two instances that see it, is ended by one', async () => {
    const { id, version } = await given({ snoozedUntil: LATER })
    await service.query(`update tasks set snoozed_until = clock_timestamp() where id = $1`, [id])
    await Promise.all(Array.from({ length: 4 }, () => service.service.tasks.wake()))
    expect((await read(id)).version).toBe(version + 1)
  })

  test('is not over before its time, and ends when the task is done', async () => {
    const { id } = await given({ snoozedUntil: LATER })
    await service.service.tasks.wake()
    expect((await read(id)).snoozedUntil).toBe(LATER)
    expect((await service.patch(`/api/tasks/${id}`, { status: 'done' })).body.snoozedUntil).toBe(null)
  })

  test('ends with a merge, and without a word while the task is deleted', async () => {
    const { id, inbox } = await given({ snoozedUntil: LATER })
    const { body: target } = await service.post('/api/tasks', { title: 'Target', listId: inbox.id })
    await service.post(`/api/tasks/${id}/merge`, { into: target.id })
    expect((await read(id)).snoozedUntil).toBe(null)
    const { id: deleted } = await given({ snoozedUntil: LATER, triaged: true })
    await service.delete(`/api/tasks/${deleted}`)
    await pass(deleted)
    expect(
      await service.query(`select from activity where type = 'task.woken' and task_id = $1`, [deleted]),
    ).toEqual([])
    await service.post(`/api/tasks/${deleted}/restore`)
    expect(await read(deleted)).toMatchObject({ snoozedUntil: null, triaged: false })
  })

  test('of a task that is done is none', async () => {
    const { id } = await given()
    const { body } = await service.patch(`/api/tasks/${id}`, { status: 'done', snoozedUntil: LATER })
    expect(body.snoozedUntil).toBe(null)
  })
})

describe('a list', () => {
  test('has what is to be triaged, what is snoozed, and either without the other', async () => {
    const { id: untriaged, projectId, inbox } = await given()
    const create = async (values: object) =>
      (await service.post('/api/tasks', { title: 'Crash', listId: inbox.id, ...values })).body.id
    const triaged = await create({ triaged: true })
    const snoozed = await create({ snoozedUntil: LATER })
    const done = await create({})
    await service.patch(`/api/tasks/${done}`, { status: 'done' })
    const idsOf = async (query: string) => {
      const ids = []
      let cursor = ''
      do {
        const page = await service.get(`/api/tasks?${query}&limit=1${cursor && `&cursor=${cursor}`}`)
        ids.push(...page.body.data.map(({ id }: { id: string }) => id))
        cursor = page.body.nextCursor
      } while (cursor)
      return ids
    }
    for (const place of [`projectId=${projectId}`, `listId=${inbox.id}`]) {
      for (const sort of ['createdAt', 'openedAt', '-updatedAt', '-priority']) {
        const query = `${place}&sort=${sort}`
        const sorted = (ids: string[]) => ids.toSorted()
        expect(sorted(await idsOf(`${query}&triaged=false`))).toEqual(sorted([untriaged, snoozed]))
        expect(sorted(await idsOf(`${query}&triaged=true`))).toEqual(sorted([triaged, done]))
        expect(await idsOf(`${query}&snoozed=true`)).toEqual([snoozed])
        expect(await idsOf(`${query}&triaged=false&snoozed=false`)).toEqual([untriaged])
        expect(await idsOf(`${query}&triaged=false&status=done`)).toEqual([])
      }
    }
    const { body } = await service.get(`/api/tasks?projectId=${projectId}&triaged=false&count=true&limit=1`)
    expect([body.total, body.totalIsExact]).toEqual([2, true])
    const csv = await service.get(`/api/tasks?projectId=${projectId}&snoozed=true`, {
      headers: { accept: 'text/csv' },
    })
    expect(csv.body.trim().split('\r\n')).toHaveLength(2)
  })
})
