import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { taskCountsService } from '../../src/services/tasks/counts.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
let aggregate: () => Promise<unknown>
let close: () => Promise<void>
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
  const db = openDatabase({ connectionString: service.connectionString, size: 4, onError: () => {} })
  aggregate = taskCountsService({ repos: repositories(db) }).aggregate
  close = () => db.$client.end()
})
afterAll(async () => {
  await close()
  await service.close()
})

const pending = async () => (await service.query('select count(*)::int from task_count_changes'))[0].count

/** The open counts that the API returns, and those counted from the tasks. */
async function counts(projectId: string) {
  const returned = (await service.get(`/api/projects/${projectId}/lists?limit=200`)).body.data
  const counted = await service.query(
    `select lists.id, count(tasks.id)::int as open from lists
     left join tasks on list_id = lists.id and status <> 'done' and deleted_at is null
     where lists.project_id = $1 group by lists.id`,
    [projectId],
  )
  return {
    returned: new Map(
      returned.map(({ id, openCount }: { id: string; openCount: number }) => [id, openCount]),
    ),
    counted: new Map(counted.map(({ id, open }) => [id, open])),
    project: (await service.get(`/api/projects/${projectId}`)).body.openCount,
    sum: counted.reduce((sum, { open }) => sum + open, 0),
  }
}

async function expectExactCounts(projectId: string) {
  const { returned, counted, project, sum } = await counts(projectId)
  expect(returned).toEqual(counted)
  expect(project).toBe(sum)
}

describe('open counts', () => {
  test('are exact after any change of tasks, aggregated or not', async () => {
    const step = fc.oneof(
      fc.record({ what: fc.constantFrom('create', 'bulk', 'aggregate'), list: fc.nat(2) }),
      fc.record({
        what: fc.constantFrom('done', 'in_progress', 'open', 'title', 'move', 'delete', 'restore'),
        task: fc.nat(200),
        list: fc.nat(2),
      }),
    )

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const project = await service.given.project()
        const lists = [
          project.inbox,
          await service.given.list(project.id),
          await service.given.list(project.id),
        ]
        const tasks: string[] = []
        for (const { what, list, ...rest } of steps) {
          const listId = lists[list]?.id
          const path = `/api/tasks/${tasks[('task' in rest ? rest.task : 0) % tasks.length]}`
          if (what === 'create')
            tasks.push((await service.post('/api/tasks', { title: 'A', listId })).body.id)
          else if (what === 'bulk') {
            const made = await service.post('/api/tasks/bulk', {
              listId,
              tasks: Array(3).fill({ title: 'A' }),
            })
            tasks.push(...made.body.data.map(({ id }: { id: string }) => id))
          } else if (what === 'aggregate') await aggregate()
          else if (tasks.length === 0) continue
          else if (what === 'delete') await service.delete(path)
          else if (what === 'restore') await service.post(`${path}/restore`)
          else if (what === 'move') await service.patch(path, { listId })
          else if (what === 'title') await service.patch(path, { title: 'B' })
          else await service.patch(path, { status: what })
        }
        await expectExactCounts(project.id)
        await service.delete(`/api/lists/${lists[2]?.id}?moveTo=${lists[1]?.id}`)
        await expectExactCounts(project.id)
        await aggregate()
        await expectExactCounts(project.id)
      }),
      { numRuns: 10 },
    )
  })

  test('lose and double nothing while tasks change and counts are aggregated', async () => {
    const projects = await Promise.all(Array.from({ length: 3 }, () => service.given.project()))
    const lists = [
      ...projects.map(({ inbox }) => inbox),
      ...(await Promise.all(projects.map(({ id }) => service.given.list(id)))),
    ]
    let isWriting = true
    const seen: number[] = []

    async function write(writer: number) {
      for (let n = 0; n < 40; n++) {
        const [from, to] = [lists[(writer + n) % lists.length], lists[(writer * 7 + n * 3) % lists.length]]
        const { body } = await service.post('/api/tasks', { title: 'A task', listId: from?.id })
        expect((await service.patch(`/api/tasks/${body.id}`, { listId: to?.id })).status).toBe(200)
        if (n % 3 === 0) await service.patch(`/api/tasks/${body.id}`, { status: 'done' })
        if (n % 5 === 0) await service.delete(`/api/tasks/${body.id}`)
      }
    }
    async function aggregateOn() {
      while (isWriting) await aggregate()
    }
    async function look() {
      while (isWriting) {
        const { data } = (await service.get('/api/projects?limit=200')).body
        seen.push(...data.map(({ openCount }: { openCount: number }) => openCount))
      }
    }

    const around = [aggregateOn(), aggregateOn(), aggregateOn(), look()]
    await Promise.all([0, 1, 2, 3, 4, 5].map(write))
    isWriting = false
    await Promise.all(around)

    expect(seen.filter((count) => count < 0)).toEqual([])
    for (const { id } of projects) await expectExactCounts(id)
    await aggregate()
    expect(await pending()).toBe(0)
    for (const { id } of projects) await expectExactCounts(id)
  })

  test('do not change for a reader while they are aggregated', async () => {
    const { id, inbox } = await service.given.project()
    for (let n = 0; n < 30; n++) await service.post('/api/tasks', { title: 'A task', listId: inbox.id })

    const [responses] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => service.get(`/api/projects/${id}`))),
      aggregate(),
      aggregate(),
    ])

    expect(new Set(responses.map(({ body }) => body.openCount))).toEqual(new Set([30]))
  })

  test('of deleted lists are deleted', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    await service.post('/api/tasks', { title: 'A task', listId: list.id })
    await service.delete(`/api/lists/${list.id}?moveTo=${project.inbox.id}`)

    await aggregate()

    expect(await pending()).toBe(0)
    await expectExactCounts(project.id)
  })
})
