import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { times } from '../support/concurrent.ts'

/* Moves of single tasks that come at the same time share statements. */

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const statusOrCode = ({ status, body }: { status: number; body: { code?: string } }) => body.code ?? status

const MISSING = '01890000-0000-7000-8000-000000000000'

describe('concurrent moves', () => {
  test('share statements, within a project and to another one', async () => {
    const transactionsOfBurst = async () => {
      const [from, to] = [await service.given.project(), await service.given.project()]
      const list = await service.given.list(from.id)
      const tasks = await times(40, () => service.given.task(from.inbox, { source: 'api' }))
      const targets = [list, to.inbox]
      const moved = await times(40, (n) =>
        service.patch(`/api/tasks/${tasks[n]?.id}`, { listId: targets[n % 2]?.id, status: 'in_progress' }),
      )
      for (const [n, { status, body }] of moved.entries()) {
        const projectId = n % 2 ? to.id : from.id
        expect(status).toBe(200)
        expect(body).toMatchObject({
          listId: targets[n % 2]?.id,
          projectId,
          status: 'in_progress',
          version: 2,
        })
        expect((await service.get(`/api/tasks/${body.id}`)).body).toEqual(body)
      }
      const taskIds = tasks.map(({ id }) => id)
      const logged = await service.query(
        'select task_id, project_id, metadata, transaction from activity where task_id = any($1)',
        [taskIds],
      )
      expect(logged).toHaveLength(40)
      for (const { task_id, project_id, metadata } of logged) {
        const n = taskIds.indexOf(task_id)
        expect(project_id).toBe(n % 2 ? to.id : from.id)
        expect(metadata.changes.listId).toEqual({ from: from.inbox.id, to: targets[n % 2]?.id })
      }
      return new Set(logged.map(({ transaction }) => transaction)).size
    }
    // Alone, each would have a transaction of its own. On a busy machine a whole burst may be alone: a statement that
    // waits for a lock gives up, and its requests continue one by one.
    await expect.poll(transactionsOfBurst).toBeLessThan(40)
  })

  test('fail each for itself', async () => {
    const [from, to] = [await service.given.project(), await service.given.project()]
    const archived = await service.given.project({ archivedAt: new Date() })
    await service.given.connection(from.id)
    await service.given.task(to.inbox, { source: 'api', externalId: 'taken' })
    const bound = await service.given.key({ projectId: from.id })
    const kinds = [
      { target: to.inbox.id, expected: 200 },
      { target: to.inbox.id, task: { externalId: 'taken' }, expected: 'external_id_taken' },
      { target: archived.inbox.id, expected: 'project_archived' },
      { target: MISSING, expected: 'list_not_found' },
      { target: to.inbox.id, key: bound, expected: 'list_not_found' },
      {
        target: to.inbox.id,
        task: { source: 'codehost' as const, codehostRepositoryId: 1, codehostNumber: 7 },
        expected: 'managed_by_codehost',
      },
      { target: from.inbox.id.toUpperCase(), expected: 200 },
    ]
    const tasks = await times(kinds.length, (n) =>
      service.given.task(from.inbox, { source: 'api', ...kinds[n]?.task }),
    )
    const responses = await Promise.all(
      kinds.map(({ target, key = service.adminKey }, n) =>
        service.patch(`/api/tasks/${tasks[n]?.id}`, { listId: target }, { key }),
      ),
    )
    expect(responses.map(statusOrCode)).toEqual(kinds.map(({ expected }) => expected))
    expect(responses.at(-1)?.body.version).toBe(1)
  })
})
