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
  test('is set and cleared by a change, with its activity', async () => {
    const { ids } = await given.tasks(3)
    const [task, first, second] = ids

    const changed = await given.block(task, [first.toUpperCase(), second, first])

    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ blockedBy: [first, second], isReady: false, version: 2 })
    expect(await service.task(task)).toEqual(changed.body)
    const cleared = await given.block(task, [])
    expect(cleared.body).toMatchObject({ blockedBy: [], isReady: true, version: 3 })
    expect(await service.task(task)).toEqual(cleared.body)
    const logged = await service.query('select type, metadata from activity where task_id = $1 order by id', [
      task,
    ])
    expect(logged).toEqual([
      { type: 'task.updated', metadata: { changes: { blockedBy: { from: [], to: [first, second] } } } },
      { type: 'task.updated', metadata: { changes: { blockedBy: { from: [first, second], to: [] } } } },
    ])
  })

  test('changes nothing if it is the same', async () => {
    const { ids } = await given.tasks(2)
    const { body } = await given.block(ids[0], [ids[1]])
    expect(await given.block(ids[0], [ids[1]])).toMatchObject({ status: 200, body })
  })

  test('is checked against the version of the task', async () => {
    const { ids } = await given.tasks(2)
    const stale = await given.block(ids[0], [ids[1]], { headers: { 'if-match': '"7"' } })
    expect(errorsOf(stale)).toEqual([412, 'version_mismatch'])
    expect((await service.task(ids[0])).blockedBy).toEqual([])
  })

  test('is set with a new task', async () => {
    const { ids, inbox } = await given.tasks(2)
    const made = await service.post('/api/tasks', { title: 'Blocked', listId: inbox.id, blockedBy: ids })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ blockedBy: ids, isReady: false, version: 1 })
    expect(await service.task(made.body.id)).toEqual(made.body)
  })

  test('is the same in the replay of a create', async () => {
    const { ids, inbox } = await given.tasks(1)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { title: 'Blocked', listId: inbox.id, blockedBy: [ids[0]] }
    const first = await service.post('/api/tasks', body, { headers })
    const replay = await service.post('/api/tasks', body, { headers })
    expect(first.body).toMatchObject({ blockedBy: [ids[0]], isReady: false })
    expect([replay.headers.get('idempotency-replayed'), replay.body]).toEqual(['true', first.body])
  })

  test.each([
    ['no list', UNKNOWN_ID, [400, 'validation_failed', '/blockedBy wrong_type']],
    ['no UUIDs', ['x'], [400, 'validation_failed', '/blockedBy/0 wrong_format']],
    ['more than 20', Array(21).fill(UNKNOWN_ID), [400, 'validation_failed', '/blockedBy too_many']],
    ['unknown', [UNKNOWN_ID], [404, 'task_not_found', '/blockedBy/0 task_not_found']],
  ])('is refused if it is %s', async (_, blockedBy, expected) => {
    const { ids, inbox } = await given.tasks(1)
    expect(errorsOf(await service.patch(`/api/tasks/${ids[0]}`, { blockedBy }))).toEqual(expected)
    const made = await service.post('/api/tasks', { title: 'A task', listId: inbox.id, blockedBy })
    expect(errorsOf(made)).toEqual(expected)
    expect(await service.task(ids[0])).toMatchObject({ blockedBy: [], version: 1 })
  })

  test('names every task that is refused: deleted, of another project, and itself', async () => {
    const { ids, inbox } = await given.tasks(3)
    const [task, deleted, good] = ids
    const far = await service.given.task((await service.given.project()).inbox)
    await service.delete(`/api/tasks/${deleted}`)

    const refused = await given.block(task, [far.id, good, task, deleted])

    expect(errorsOf(refused)).toEqual([
      404,
      'task_not_found',
      '/blockedBy/0 other_project',
      '/blockedBy/2 itself',
      '/blockedBy/3 task_not_found',
    ])
    expect(refused.body.detail).toBe(`Task ${deleted} not found. And 2 more errors.`)
    expect(errorsOf(await given.block(task, [far.id]))).toEqual([
      400,
      'validation_failed',
      '/blockedBy/0 other_project',
    ])
    const made = await service.post('/api/tasks', { title: 'New', listId: inbox.id, blockedBy: [far.id] })
    expect(errorsOf(made)).toEqual([400, 'validation_failed', '/blockedBy/0 other_project'])
  })

  test('tells a key nothing about the tasks of other projects', async () => {
    const { ids, project } = await given.tasks(1)
    const far = await service.given.task((await service.given.project()).inbox)
    const key = await service.given.key({ projectId: project.id })
    expect(errorsOf(await given.block(ids[0], [far.id], { key }))).toEqual([
      404,
      'task_not_found',
      '/blockedBy/0 task_not_found',
    ])
  })

  test('keeps a task that was deleted since', async () => {
    const { ids } = await given.tasks(3)
    const [task, deleted, other] = ids
    await given.block(task, [deleted])
    await service.delete(`/api/tasks/${deleted}`)
    const { status, body } = await given.block(task, [deleted, other])
    expect([status, body.blockedBy]).toEqual([200, [deleted, other]])
  })
})

describe('a cycle', () => {
  test('is refused, and named', async () => {
    const { ids } = await given.tasks(3)
    const [a, b, c] = ids
    await given.block(a, [b])
    await given.block(b, [c])

    const refused = await given.block(c, [a])

    expect(errorsOf(refused)).toEqual([409, 'dependency_cycle'])
    expect(refused.body.cycle).toEqual([c, a, b])
    expect(refused.body.detail).toContain(`: ${c}, ${a}, ${b}, ${c}.`)
    expect(await service.task(c)).toMatchObject({ blockedBy: [], version: 1 })
  })

  test('is refused while a task of it is done or deleted, because it can be reopened or restored', async () => {
    const { ids } = await given.tasks(3)
    const [a, b, c] = ids
    await given.block(a, [b])
    await given.block(b, [c])
    await service.patch(`/api/tasks/${a}`, { status: 'done' })
    await service.delete(`/api/tasks/${b}`)
    expect(errorsOf(await given.block(c, [a]))).toEqual([409, 'dependency_cycle'])
  })

  test('is made by no move: in its new project a task is blocked by nothing', async () => {
    const [from, to] = [await given.tasks(2), await given.tasks(1)]
    const [a, b] = from.ids
    await given.block(a, [b])
    const moved = await service.patch(`/api/tasks/${a}`, { listId: to.inbox.id })
    expect(moved.body).toMatchObject({ blockedBy: [], isReady: true })
    const [logged] = await service.query(
      'select metadata from activity where task_id = $1 order by id desc',
      [a],
    )
    expect(logged.metadata.changes).toMatchObject({ blockedBy: { from: [b], to: [] } })
    const both = { listId: to.inbox.id, blockedBy: [to.ids[0]] }
    expect((await service.patch(`/api/tasks/${b}`, both)).body).toMatchObject({ blockedBy: [to.ids[0]] })
    expect((await given.block(b, [to.ids[0], a])).status).toBe(200)
  })

  test('of two changes at the same time is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const { ids } = await given.tasks(2)
      const [a, b] = ids
      const responses = await Promise.all([given.block(a, [b]), given.block(b, [a])])
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
    }
  })
})

test('a task that would wait for more than 10,000 others is refused, and a chain of so many is not', async () => {
  const { ids, inbox } = await given.tasks(2)
  const [task, other] = ids
  await service.given.tasks(inbox, 10_001)
  await service.query(
    `with chain as (
       select id, lead(id) over (order by id) as next from tasks where list_id = $1 and id <> all($2::uuid[])
     ) update tasks set blocked_by = array[next] from chain where tasks.id = chain.id and next is not null`,
    [inbox.id, [task, other]],
  )
  const [first, second] = await service.query(
    'select id from tasks where list_id = $1 and id <> all($2::uuid[]) order by id limit 2',
    [inbox.id, [task, other]],
  )
  expect((await given.block(task, [second.id])).status).toBe(200)
  expect((await given.block(other, [task])).status).toBe(400)
  const refused = await given.block(other, [first.id])
  expect(errorsOf(refused)).toEqual([400, 'validation_failed', '/blockedBy too_many'])
  expect(refused.body.detail).toContain('more than 10,000 others')
  const [last] = await service.query(
    `select id from tasks where list_id = $1 and blocked_by = '{}' and id <> all($2::uuid[])`,
    [inbox.id, [task, other]],
  )
  const cycle = await given.block(last.id, [second.id])
  expect([cycle.status, cycle.body.cycle.length]).toEqual([409, 100])
  expect(cycle.body.detail).toContain('9,990 more')
})
