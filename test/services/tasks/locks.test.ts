import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Locks, locksOf } from '../../support/locks.ts'

let service: TestApp
let locks: Locks
beforeAll(async () => {
  service = await startApp()
  locks = locksOf(service)
})
afterAll(() => service.close())

test('a task that moves to another project while changes wait for it is changed in its new one', async () => {
  const [one, another] = [await service.given.project(), await service.given.project()]
  // Both ways: in one of them, two of the changes wait for each other.
  for (const [from, to] of [
    [one, another],
    [another, one],
  ] as const) {
    const [blocker, other] = [await service.given.task(to.inbox), await service.given.task(to.inbox)]
    const task = await service.given.task(from.inbox)
    const blockedBy = [blocker.id]
    const release = await locks.acquire(`select 1 from tasks where id = '${task.id}' for update`)
    const moved = service.patch(`/api/tasks/${task.id}`, { listId: to.inbox.id })
    await locks.waiting(1, moved)
    // Waits for the task, with its old project locked for dependencies.
    const changed = service.patch(`/api/tasks/${task.id}`, { blockedBy })
    await locks.waiting(2, moved, changed)
    // Waits for the old project, perhaps with the new one locked.
    const both = service.patch('/api/tasks/bulk', { ids: [other.id, task.id], change: { blockedBy } })
    await locks.waiting(3, moved, changed, both)
    await release()

    expect((await moved).status).toBe(200)
    expect(await changed).toMatchObject({ status: 200, body: { projectId: to.id, blockedBy } })
    expect((await both).status).toBe(200)
  }
})
