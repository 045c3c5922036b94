import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { depending, errorsOf } from '../support/dependencies.ts'

let service: TestApp
let given: ReturnType<typeof depending>
beforeAll(async () => {
  service = await startApp()
  given = depending(service)
})
afterAll(() => service.close())

describe('a task is ready', () => {
  test('while it is open', async () => {
    const { ids } = await given.tasks(1)
    const statuses = ['in_progress', 'done', 'open'] as const
    const ready = []
    for (const status of statuses)
      ready.push((await service.patch(`/api/tasks/${ids[0]}`, { status })).body.isReady)
    expect(ready).toEqual([false, false, true])
  })

  test('when all that it is blocked by is done or deleted, and no longer when it is reopened or restored', async () => {
    const { ids } = await given.tasks(3)
    const [task, first, second] = ids
    await given.block(task, [first, second])
    const { version } = await service.task(task)
    const ready = []
    const steps = [
      () => service.patch(`/api/tasks/${first}`, { status: 'done' }),
      () => service.delete(`/api/tasks/${second}`),
      () => service.patch(`/api/tasks/${first}`, { status: 'in_progress' }),
      () => service.patch(`/api/tasks/${first}`, { status: 'done' }),
      () => service.post(`/api/tasks/${second}/restore`),
    ]
    for (const step of steps) {
      expect((await step()).status).toBeLessThan(300)
      ready.push(await given.isReady(task))
    }
    expect(ready).toEqual([false, true, false, true, false])
    expect(await service.task(task)).toMatchObject({ version, blockedBy: [first, second] })
  })

  test('when what it is blocked by is merged, and no longer when that is unmerged', async () => {
    const { ids } = await given.tasks(3)
    const [task, blocker, target] = ids
    await given.block(task, [blocker])
    await service.post(`/api/tasks/${blocker}/merge`, { into: target })
    expect(await given.isReady(task)).toBe(true)
    await service.post(`/api/tasks/${blocker}/unmerge`)
    expect(await given.isReady(task)).toBe(false)
  })

  test('when what it is blocked by is moved to another project, or gone', async () => {
    const [here, there] = [await given.tasks(3), await given.tasks(0)]
    const [task, moved, gone] = here.ids
    await given.block(task, [moved, gone])
    await service.patch(`/api/tasks/${moved}`, { listId: there.inbox.id })
    expect(await given.isReady(task)).toBe(false)
    await service.query('delete from tasks where id = $1', [gone])
    expect(await given.isReady(task)).toBe(true)
    await service.patch(`/api/tasks/${moved}`, { listId: here.inbox.id })
    expect(await given.isReady(task)).toBe(false)
  })

  test('unless its project is archived', async () => {
    const { ids, project } = await given.tasks(1)
    await service.post(`/api/projects/${project.id}/archive`)
    expect(await given.isReady(ids[0])).toBe(false)
    await service.post(`/api/projects/${project.id}/unarchive`)
    expect(await given.isReady(ids[0])).toBe(true)
  })

  test('and found by it', async () => {
    const { ids, project, inbox } = await given.tasks(4)
    const [ready, blocked, started, done] = ids as [string, string, string, string]
    await given.block(blocked, [started])
    await given.block(ready, [done])
    await service.patch(`/api/tasks/${started}`, { status: 'in_progress' })
    await service.patch(`/api/tasks/${done}`, { status: 'done' })
    const found = async (query: string) =>
      (await service.get(`/api/tasks?${query}`)).body.data.map(({ id }: { id: string }) => id)
    for (const place of [`projectId=${project.id}`, `listId=${inbox.id}`]) {
      expect(await found(`${place}&isReady=true`)).toEqual([ready])
      expect(await found(`${place}&isReady=false&sort=createdAt`)).toEqual([blocked, started, done])
      expect(await found(`${place}&isReady=true&sort=-reports`)).toEqual([ready])
    }
    const counted = await service.get(`/api/tasks?projectId=${project.id}&isReady=true&count=true&q=Task`)
    expect([counted.body.total, counted.body.data.map(({ id }: { id: string }) => id)]).toEqual([1, [ready]])
    expect(errorsOf(await service.get('/api/tasks?isReady=maybe'))).toEqual([
      400,
      'validation_failed',
      'query.isReady wrong_type',
    ])
  })
})
