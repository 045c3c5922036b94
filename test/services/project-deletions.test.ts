import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories } from '../../src/repositories/index.ts'
import type { Caller } from '../../src/services/access.ts'
import { projectsService } from '../../src/services/projects.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'

let service: TestApp
let impatient: ReturnType<typeof projectsService>
let newWorker: () => typeof impatient
let close: () => Promise<void>
beforeAll(async () => {
  service = await startApp()
  // Requests leave all of a large trash to the worker.
  const db = openDatabase({ connectionString: service.connectionString, size: 4, onError: () => {} })
  newWorker = () => projectsService({ repos: repositories(db), clock: systemClock(), deletionMs: 0 })
  impatient = newWorker()
  close = () => db.$client.end()
})
afterAll(async () => {
  await close()
  await service.close()
})

const caller: Caller = {
  type: 'key',
  id: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
  keyId: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
  name: 'the deleter',
  scopes: ['admin'],
  projectId: null,
  expiresAt: null,
}

async function givenTrash(count: number) {
  const project = await service.given.project()
  await service.query(
    `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
       created_by_type, created_by_name, created_at, updated_at, deleted_at, version)
     select gen_random_uuid(), 'A task', 'open', 2, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), now(), 1
     from generate_series(1, $3)`,
    [project.id, project.inbox.id, count],
  )
  return project
}

const status = async (id: string) => (await service.get(`/api/projects/${id}`)).status
const finish = async () => {
  while (await impatient.workOnDeletions());
}

describe('the deletion of a project with a large trash', () => {
  test('archives it at once, empties the trash in the worker, and then deletes it', async () => {
    const project = await givenTrash(450)

    const left = await impatient.delete(caller, project.id)
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

  test('is 204 when one request is enough', async () => {
    const { id } = await givenTrash(120)

    let answer = 202
    while (answer === 202) answer = (await service.delete(`/api/projects/${id}`)).status

    expect([answer, await status(id)]).toEqual([204, 404])
  })

  test('is cancelled when the project is unarchived', async () => {
    const { id } = await givenTrash(450)
    await impatient.delete(caller, id)

    await service.post(`/api/projects/${id}/unarchive`)
    await finish()

    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).toBeNull()
  })

  test('stops when something references the project in the meantime', async () => {
    const { id } = await givenTrash(450)
    await impatient.delete(caller, id)
    await service.given.key({ projectId: id })

    await finish()

    expect((await service.get(`/api/projects/${id}`)).body.archivedAt).not.toBeNull()
    expect(await service.query('select from project_deletions where project_id = $1', [id])).toEqual([])
  })

  test('locks only the tasks of the project', async () => {
    const { id, inbox } = await givenTrash(450)
    await impatient.delete(caller, id)
    const release = await locksOf(service).hold(
      `select from projects where id = '${id}' for update; select from lists where id = '${inbox.id}' for update`,
    )

    // A worker that has learnt nothing yet takes a hundred.
    expect(await newWorker().workOnDeletions()).toBe(true)
    await release()
    await finish()
    expect(await status(id)).toBe(404)
  })
})
