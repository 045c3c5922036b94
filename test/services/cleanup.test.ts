import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
let list: { id: string; projectId: string }
beforeAll(async () => {
  service = await startApp()
  list = (await service.given.project()).inbox
})
afterAll(() => service.close())

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
const cleanup = () => service.service.cleanup.cleanUp()
const isThere = async (id: string) =>
  (await service.query('select from tasks where id = $1', [id])).length === 1

describe('the cleanup', () => {
  test('deletes tasks that were in the trash for 30 days, and no others', async () => {
    const shown = await service.given.task(list, { createdAt: daysAgo(90) })
    const fresh = await service.given.task(list, { deletedAt: daysAgo(29.9) })
    const due = await service.given.task(list, { deletedAt: daysAgo(30.1) })

    // Purged tasks are not found, also before the next cleanup.
    expect((await service.post(`/api/tasks/${due.id}/restore`)).status).toBe(404)
    await cleanup()

    expect([await isThere(shown.id), await isThere(fresh.id), await isThere(due.id)]).toEqual([
      true,
      true,
      false,
    ])
    expect((await service.post(`/api/tasks/${due.id}/restore`)).status).toBe(404)
  })

  test('keeps a record of what a sync must not create again', async () => {
    const item = { codehostRepositoryId: 2 ** 52, codehostNumber: 42, codehostKind: 'issue' as const }
    await service.given.task(list, { ...item, source: 'codehost', deletedAt: daysAgo(31) })

    await cleanup()

    const kept = await service.query('select * from purged_items where project_id = $1', [list.projectId])
    expect(kept).toMatchObject([{ codehost_repository_id: String(2 ** 52), codehost_number: 42 }])
  })

  test('splits the work between concurrent runs, and deletes in batches', async () => {
    const ids = Array.from({ length: 2_500 }, () => service.clock.newId(daysAgo(40)))
    await service.query(
      `insert into tasks select id, 'x', null, 'open', 2, 'api', $2, $3, null, null, '{}', '{}', null, null, null, null,
        null, 'present', null, '{}', 'system', null, 'test', now(), now(), null, now() - interval '31 days', 1
       from unnest($1::uuid[]) as id`,
      [ids, list.projectId, list.id],
    )
    const deleted = await Promise.all([cleanup(), cleanup()])
    expect(deleted[0].purgedTasks + deleted[1].purgedTasks).toBe(2_500)
  })

  test('pauses between batches', async () => {
    for (let number = 0; number < 450; number++) await service.given.task(list, { deletedAt: daysAgo(31) })
    const left: number[] = []

    await service.service.cleanup.cleanUp(async () => {
      const [row] = await service.query(
        'select count(*)::integer as n from tasks where deleted_at is not null',
      )
      left.push(row.n)
    })

    expect(left.map((count) => (left[0] ?? 0) - count)).toEqual([0, 200, 250])
  })

  test('removes tasks with many comments in smaller batches', async () => {
    for (let number = 0; number < 5; number++) {
      await service.given.taskWithComments(list, { count: 1_500, deletedAt: daysAgo(31) })
    }
    const batches = [
      await service.repos.cleanup.purgeDeletedTasks(daysAgo(30), 200),
      await service.repos.cleanup.purgeDeletedTasks(daysAgo(30), 200),
    ]
    expect(batches).toEqual([2, 2])
    expect((await cleanup()).purgedTasks).toBe(1)
    expect(await service.query('select id from comments')).toEqual([])
  })

  test('ends sessions that were idle for twelve hours', async () => {
    const session = (await service.post('/api/sessions', { key: service.adminKey }, { key: null })).body
    await service.query("update sessions set last_seen_at = now() - interval '13 hours' where id = $1", [
      session.id,
    ])
    await cleanup()
    expect(await service.query('select from sessions where id = $1', [session.id])).toEqual([])
  })
})
