import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { projectsService } from '../../src/services/projects.ts'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import { deletingCaller as caller, deletionsInWorker } from '../support/deletions.ts'
import { locksOf } from '../support/locks.ts'

let service: TestApp
let workerProjects: ReturnType<typeof projectsService>
let deletions: ReturnType<typeof deletionsInWorker>
beforeAll(async () => {
  service = await startApp()
  deletions = deletionsInWorker(service)
  workerProjects = deletions.projects()
})
afterAll(async () => {
  await deletions.close()
  await service.close()
})

async function givenTrash(count: number) {
  const project = await service.given.project()
  await service.given.tasks(project.inbox, count, { isDeleted: true })
  return project
}

const status = async (id: string) => (await service.get(`/api/projects/${id}`)).status
const finish = async () => {
  while (await workerProjects.workOnDeletions());
}

describe('the deletion of a project with a large trash', () => {
  test('archives it at once, empties the trash in the worker, and then deletes it', async () => {
    const project = await givenTrash(450)

    const left = await workerProjects.delete(caller, project.id)
    expect(left).toMatchObject({ id: project.id, archivedAt: expect.any(String) })
    expect(await service.post('/api/tasks', { title: 'Late', listId: project.inbox.id })).toMatchObject({
      status: 409,
      body: { code: 'project_archived' },
    })
    await Promise.all([finish(), finish()])

    expect(await status(project.id)).toBe(404)
    expect(await service.query('select from tasks where project_id = $1', [project.id])).toEqual([])
    expect(
      await service.query(`select type, actor_name from activity where project_id = $1 order by id`, [
        project.id,
      ]),
    ).toEqual([
      { type: 'project.archived', actor_name: 'the deleter' },
      { type: 'project.deleted', actor_name: 'the deleter' },
    ])
  })

  test('with many comments deletes them in batches, too', async () => {
    const project = await service.given.project()
    const ids: string[] = []
    for (let number = 0; number < 5; number++) {
      const deletedAt = service.clock.now()
      ids.push((await service.given.taskWithComments(project.inbox, { count: 1_500, deletedAt })).id)
    }
    const counts = async () =>
      (await service.query('select count(*)::integer from comments where task_id = any($1)', [ids]))[0].count

    await workerProjects.delete(caller, project.id)
    const left = [await counts()]
    while (await workerProjects.workOnDeletions()) left.push(await counts())

    expect(left).toEqual([7_500, 4_500, 1_500, 0])
    expect([await status(project.id), await counts()]).toEqual([404, 0])
  })

  test('is 204 when one request is enough', async () => {
    const { id } = await givenTrash(120)

    let response = 202
    while (response === 202) response = (await service.delete(`/api/projects/${id}`)).status

    expect([response, await status(id)]).toEqual([204, 404])
  })

  test('is cancelled when the project is unarchived', async () => {
    const { id } = await givenTrash(450)
    await workerProjects.delete(caller, id)

    await service.post(`/api/projects/${id}/unarchive`)
    await finish()

    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).toBeNull()
  })

  test('is cancelled by unarchiving the project just before the last step', async () => {
    const { id } = await givenTrash(120)
    await workerProjects.delete(caller, id)
    const locks = locksOf(service)
    const release = await locks.acquire(`select from projects where id = '${id}' for update`)
    const unarchived = service.post(`/api/projects/${id}/unarchive`)
    await locks.waiting(1, unarchived)
    const finished = finish()
    await locks.waiting(2, unarchived, finished)
    await release()
    await finished

    expect((await unarchived).status).toBe(200)
    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).toBeNull()
  })

  test('stops when something references the project in the meantime', async () => {
    const { id } = await givenTrash(450)
    await workerProjects.delete(caller, id)
    await service.given.key({ projectId: id })

    await finish()

    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).not.toBeNull()
    expect(await service.query('select from project_deletions where project_id = $1', [id])).toEqual([])
  })

  test.each<[string, (list: { id: string; projectId: string }) => Promise<ApiResponse>]>([
    [
      'a create',
      ({ id: listId }) => service.post('/api/tasks', { title: 'In time', listId, externalId: 'same' }),
    ],
    [
      'a bulk create',
      ({ id: listId }) => {
        const tasks = [{ title: 'In time' }, { title: 'As well', externalId: 'same' }]
        return service.post('/api/tasks/bulk', { listId, tasks })
      },
    ],
    [
      'a restore',
      async (list) => {
        const { id } = await service.given.task(list, { externalId: 'same', deletedAt: new Date() })
        return service.post(`/api/tasks/${id}/restore`)
      },
    ],
    [
      'a move',
      async ({ id: listId }) => {
        const { inbox } = await service.given.project()
        const { id } = await service.given.task(inbox, { externalId: 'same' })
        return service.patch(`/api/tasks/${id}`, { listId })
      },
    ],
  ])('waits for %s that has started, and is then rejected', async (_, write) => {
    const { id, inbox } = await givenTrash(120)
    const locks = locksOf(service)
    const blocking = await service.given.task(inbox, { externalId: 'same', deletedAt: new Date() })
    const release = await locks.acquire(`update tasks set deleted_at = null where id = '${blocking.id}'`)
    const written = write(inbox)
    await locks.waiting(1, written)
    const deleted = service.delete(`/api/projects/${id}`)
    await locks.waiting(2, written, deleted)
    await release()

    expect((await deleted).body).toMatchObject({ code: 'project_not_empty' })
    expect((await written).status).toBeLessThan(300)
    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).toBeNull()
  })

  test('locks only the tasks of the project', async () => {
    const { id, inbox } = await givenTrash(450)
    await workerProjects.delete(caller, id)
    const release = await locksOf(service).acquire(
      `select from projects where id = '${id}' for update; select from lists where id = '${inbox.id}' for update`,
    )

    // A worker that has learnt nothing yet takes a hundred.
    expect(await deletions.projects().workOnDeletions()).toBe(true)
    await release()
    await finish()
    expect(await status(id)).toBe(404)
  })
})
