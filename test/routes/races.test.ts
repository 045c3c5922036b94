import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import type { TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

/** One instance and the other in turn, with a key that both know. */
const either = (n: number) => (n % 2 ? second : service)

async function rowsIn(projectId: string) {
  const [row] = await service.query(
    `select (select count(*)::int from tasks where project_id = $1 and deleted_at is null) as tasks,
            (select count(*)::int from activity where project_id = $1 and type = 'task.created') as activities`,
    [projectId],
  )
  return row
}

describe('concurrent creates with one externalId', () => {
  test('create one task: one is 201 and the others find it', async () => {
    const { id, inbox } = await service.given.project()

    const responses = await times(50, (n) =>
      service.post('/api/tasks', { title: `Try ${n}`, listId: inbox.id, externalId: 'same' }),
    )

    expect(tally(responses)).toEqual({ 201: 1, 200: 49 })
    const first = responses.find(({ status }) => status === 201)
    expect(
      responses.every(({ body }) => body.id === first?.body.id && body.title === first?.body.title),
    ).toBe(true)
    expect(await rowsIn(id)).toEqual({ tasks: 1, activities: 1 })
  })

  test('create one task also when two instances share the database', async () => {
    const { id, inbox } = await service.given.project()

    const responses = await times(50, (n) =>
      either(n).post(
        '/api/tasks',
        { title: `Try ${n}`, listId: inbox.id, externalId: 'same' },
        { key: service.adminKey },
      ),
    )

    expect(tally(responses)).toEqual({ 201: 1, 200: 49 })
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1)
    expect(await rowsIn(id)).toEqual({ tasks: 1, activities: 1 })
  })

  test('create one task also when some are in batches', async () => {
    const { id, inbox } = await service.given.project()
    const batch = { listId: inbox.id, tasks: Array(3).fill({ title: 'A', externalId: 'same' }) }

    const responses = await times(20, (n) =>
      n % 2
        ? service.post('/api/tasks/bulk', batch)
        : service.post('/api/tasks', { title: 'A', listId: inbox.id, externalId: 'same' }),
    )

    expect(responses.every(({ status }) => status < 300)).toBe(true)
    expect(await rowsIn(id)).toEqual({ tasks: 1, activities: 1 })
  })
})

describe('concurrent batches with the same externalIds', () => {
  test('neither fail nor double, in any order', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, inbox } = await service.given.project()
      const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${n}`, externalId: `x-${n}` }))

      const responses = await times(6, (n) =>
        either(n).post(
          `/api/tasks/bulk${n % 3 ? '' : '?onError=continue'}`,
          { listId: inbox.id, tasks: n % 2 ? tasks : tasks.toReversed() },
          { key: service.adminKey },
        ),
      )

      expect(tally(responses)).toEqual({ 201: 4, 207: 2 })
      expect(responses.reduce((sum, { body }) => sum + body.created, 0)).toBe(100)
      expect(responses.reduce((sum, { body }) => sum + body.existing, 0)).toBe(500)
      expect(await rowsIn(id)).toEqual({ tasks: 100, activities: 100 })
      const batch = responses.find(({ status }) => status === 201)
      expect(new Set(batch?.body.data.map(({ id }: Task) => id)).size).toBe(100)
    }
  })
})

describe('concurrent changes of one version', () => {
  test('have exactly one winner; the others get 412', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })

    const responses = await times(20, (n) =>
      either(n).patch(
        `/api/tasks/${task.id}`,
        { title: `By ${n}` },
        { key: service.adminKey, headers: { 'if-match': '"1"' } },
      ),
    )

    expect(tally(responses)).toEqual({ 200: 1, 412: 19 })
    const winner = responses.find(({ status }) => status === 200)
    expect((await service.get(`/api/tasks/${task.id}`)).body).toEqual(winner?.body)
  })

  test('are all kept when none names a version', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })

    const responses = await times(20, (n) => service.patch(`/api/tasks/${task.id}`, { title: `By ${n}` }))

    expect(tally(responses)).toEqual({ 200: 20 })
    expect(responses.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    )
  })

  test('happen before a delete or find the task deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { body: task } = await service.post('/api/tasks', { title: 'A task' })
      const path = `/api/tasks/${task.id}`

      const [deleted, ...changed] = await Promise.all([
        service.delete(path),
        ...Array.from({ length: 6 }, (_, n) => service.patch(path, { title: `By ${n}` })),
        service.delete(path),
      ])

      const statuses = changed.map(({ status }) => status)
      expect(statuses.every((status) => [200, 204, 404].includes(status))).toBe(true)
      expect([deleted, ...changed].filter(({ status }) => status === 204)).toHaveLength(1)
      expect((await service.get(path)).status).toBe(404)
    }
  })
})

describe('a create', () => {
  test('that races with the deletion of the task with its externalId finds it or creates a new one', async () => {
    const { id, inbox } = await service.given.project()
    const input = { title: 'A task', listId: inbox.id, externalId: 'same' }

    for (let round = 0; round < 20; round++) {
      const { body: task } = await service.post('/api/tasks', input)
      const [deleted, ...made] = await Promise.all([
        service.delete(`/api/tasks/${task.id}`),
        service.post('/api/tasks', input),
        service.post('/api/tasks', input),
      ])

      expect([204, 404]).toContain(deleted.status)
      expect(made.every(({ status }) => status === 200 || status === 201)).toBe(true)
      expect((await rowsIn(id)).tasks).toBeLessThanOrEqual(1)
    }
  })

  test('that races with a restore of the task with its externalId leaves one of them', async () => {
    const { id, inbox } = await service.given.project()
    const input = { title: 'A task', listId: inbox.id, externalId: 'same' }

    for (let round = 0; round < 10; round++) {
      const { body: task } = await service.post('/api/tasks', input)
      await service.delete(`/api/tasks/${task.id}`)
      const [made, restored] = await Promise.all([
        service.post('/api/tasks', input),
        service.post(`/api/tasks/${task.id}/restore`),
      ])

      expect([200, 201]).toContain(made.status)
      expect([200, 409]).toContain(restored.status)
      expect((await rowsIn(id)).tasks).toBe(1)
    }
  })
})

describe('concurrent moves to one project', () => {
  test('leave one task with the externalId there', async () => {
    const there = await service.given.project()
    const tasks = await times(8, async () => {
      const { inbox } = await service.given.project()
      return (await service.post('/api/tasks', { title: 'A', listId: inbox.id, externalId: 'same' })).body
    })

    const responses = await Promise.all(
      tasks.map(({ id }) => service.patch(`/api/tasks/${id}`, { listId: there.inbox.id })),
    )

    expect(tally(responses)).toEqual({ 200: 1, 409: 7 })
    expect((await rowsIn(there.id)).tasks).toBe(1)
  })
})
