import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { deletingCaller as caller, deletionsInWorker } from '../support/deletions.ts'

let service: TestApp
let deletions: ReturnType<typeof deletionsInWorker>
beforeAll(async () => {
  service = await startApp()
  deletions = deletionsInWorker(service)
})
afterAll(async () => {
  await deletions.close()
  await service.close()
})

test('one instance works on a deletion at a time, and its pauses are pauses of all', async () => {
  const project = await service.given.project()
  const [from, to] = [await service.given.list(project.id), await service.given.list(project.id)]
  await service.given.tasks(from, 400)
  const trash = await service.given.project()
  await service.given.tasks(trash.inbox, 400, { isDeleted: true })
  const [lists, others, projects] = [deletions.lists(), deletions.lists(), deletions.projects()]
  await lists.delete(caller, { id: from.id, moveTo: to.id })
  await projects.delete(caller, trash.id)
  const left = async () => {
    const [row] = await service.query(
      `select (select count(*)::int from tasks where list_id = $1) as moving,
        (select count(*)::int from tasks where project_id = $2) as purging`,
      [from.id, trash.id],
    )
    return row
  }

  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = lists.workOnDeletions(async () => {
    begun.resolve()
    await end.promise
  })
  await begun.promise
  const meanwhile = [await others.workOnDeletions(), await projects.workOnDeletions()]
  const request = await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`)
  // A pause locks nothing that others need.
  const created = await service.post('/api/tasks', { title: 'In a pause', listId: from.id })
  const archived = await service.post(`/api/projects/${project.id}/archive`)
  await service.post(`/api/projects/${project.id}/unarchive`)

  expect(meanwhile).toEqual([false, false])
  expect([request.status, created.status, archived.status]).toEqual([202, 201, 200])
  expect(await left()).toEqual({ moving: 401, purging: 400 })
  end.resolve()
  expect(await work).toBe(true)
  expect((await left()).moving).toBeLessThan(401)
  expect([await others.workOnDeletions(), await projects.workOnDeletions()]).toEqual([true, true])
})

test('an instance that is killed in its turn gives it back', async () => {
  const project = await service.given.project()
  const [from, to] = [await service.given.list(project.id), await service.given.list(project.id)]
  await service.given.tasks(from, 400)
  const lists = deletions.lists()
  await lists.delete(caller, { id: from.id, moveTo: to.id })
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const dead = lists.workOnDeletions(async () => {
    begun.resolve()
    await end.promise
  })
  await begun.promise

  expect(await deletions.lists().workOnDeletions()).toBe(false)
  await service.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  )

  await expect.poll(() => deletions.lists().workOnDeletions()).toBe(true)
  end.resolve()
  await expect(dead).rejects.toThrow()
})
