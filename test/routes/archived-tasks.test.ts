import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

async function givenOneEach() {
  const [used, archived] = [await service.given.project(), await service.given.project()]
  const word = `word${used.id.slice(-6)}`
  await service.given.task(used.inbox, { title: `${word} used` })
  await service.given.task(archived.inbox, { title: `${word} archived`, status: 'in_progress' })
  await service.given.task(used.inbox, { title: `${word} used too` })
  expect((await service.post(`/api/projects/${archived.id}/archive`)).status).toBe(200)
  return { used, archived, word }
}

const titlesOf = ({ body }: { body: { data: Task[] } }) => body.data.map(({ title }) => title)

describe('tasks of an archived project', () => {
  test.each(['-createdAt', 'createdAt', '-updatedAt', 'updatedAt', '-priority'])(
    'are excluded when no project is named, unless requested: %s',
    async (sort) => {
      const { archived, word } = await givenOneEach()
      const list = (query: string) => service.get(`/api/tasks?limit=200&sort=${sort}&${query}`)

      for (const query of ['', `q=${word}`, 'status=in_progress', 'includeArchived=false']) {
        const titles = titlesOf(await list(query))
        expect([query, titles.includes(`${word} archived`)]).toEqual([query, false])
      }
      for (const query of [
        'includeArchived=true',
        `includeArchived=true&q=${word}`,
        `projectId=${archived.id}`,
        `projectId=${archived.id}&q=${word}`,
        `listId=${archived.inbox.id}`,
      ]) {
        const titles = titlesOf(await list(query))
        expect([query, titles.includes(`${word} archived`)]).toEqual([query, true])
      }
      expect(titlesOf(await list(`q=${word}`))).toHaveLength(2)
    },
  )

  test('are skipped page by page', async () => {
    const { word } = await givenOneEach()
    const path = `/api/tasks?q=${word}&limit=1`
    const first = await service.get(path)
    const second = await service.get(`${path}&cursor=${first.body.nextCursor}`)

    expect([...titlesOf(first), ...titlesOf(second)]).toEqual([`${word} used too`, `${word} used`])
    expect(second.body.nextCursor).toBeNull()
  })

  test('are shown to a key that is bound to the project', async () => {
    const { archived, word } = await givenOneEach()
    const key = await service.given.key({ projectId: archived.id })

    expect(titlesOf(await service.get('/api/tasks', { key }))).toEqual([`${word} archived`])
    expect((await service.get('/api/context', { key })).body.tasks.inProgress).toBe(1)
  })

  test('are excluded from the context, unless requested or named', async () => {
    const before = (await service.get('/api/context')).body.tasks
    const { archived, word } = await givenOneEach()
    const read = async (query: string) => {
      const { tasks } = (await service.get(`/api/context?${query}`)).body
      const titles = tasks.recent.map(({ title }: Task) => title)
      return { isThere: titles.includes(`${word} archived`), open: tasks.open, inProgress: tasks.inProgress }
    }

    expect(await read('')).toEqual({
      isThere: false,
      open: before.open + 2,
      inProgress: before.inProgress,
    })
    expect(await read('includeArchived=true')).toMatchObject({ isThere: true })
    expect((await read('includeArchived=true')).inProgress).toBeGreaterThan(before.inProgress)
    expect(await read(`projectId=${archived.id}`)).toEqual({ isThere: true, open: 0, inProgress: 1 })
  })
})

describe('a project that is being archived', () => {
  test.each([
    ['a create', (listId: string) => service.post('/api/tasks', { title: 'Late', listId })],
    [
      'a bulk create',
      (listId: string) =>
        service.post('/api/tasks/bulk', { listId, tasks: [{ title: 'Late' }, { title: 'Later' }] }),
    ],
    [
      'a create with an Idempotency-Key',
      (listId: string) =>
        service.post('/api/tasks', { title: 'Late', listId }, { headers: { 'idempotency-key': listId } }),
    ],
    [
      'a restore',
      async (listId: string) => {
        const [task] = await service.query(
          'select id from tasks where list_id = $1 and deleted_at is not null',
          [listId],
        )
        return service.post(`/api/tasks/${task.id}/restore`)
      },
    ],
    [
      'a move',
      async (listId: string) => {
        const task = (await service.post('/api/tasks', { title: 'Late' })).body
        return service.patch(`/api/tasks/${task.id}`, { listId })
      },
    ],
  ])('gets nothing from %s in the meantime', async (_, write) => {
    const project = await service.given.project()
    await service.given.task(project.inbox, { deletedAt: new Date() })
    const archiving = await service.connect()
    await archiving.query('begin')
    await archiving.query('select from projects where id = $1 for update', [project.id])
    await archiving.query('update projects set archived_at = now() where id = $1', [project.id])

    const late = write(project.inbox.id)
    await locksOf(service).waiting(1, late)
    await archiving.query('commit')
    archiving.release()

    expect(await late).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    expect((await service.get(`/api/tasks?projectId=${project.id}`)).body.data).toEqual([])
  })

  test('waits for a create that has started, which then succeeds', async () => {
    const project = await service.given.project()
    const locks = locksOf(service)
    const release = await locks.acquire(`select from lists where id = '${project.inbox.id}' for update`)
    const created = service.post('/api/tasks', { title: 'In time', listId: project.inbox.id })
    await locks.waiting(1, created)
    const archived = service.post(`/api/projects/${project.id}/archive`)
    await locks.waiting(2, created, archived)
    await release()

    expect([(await created).status, (await archived).status]).toEqual([201, 200])
    expect(Date.parse((await created).body.createdAt)).toBeLessThanOrEqual(
      Date.parse((await archived).body.archivedAt),
    )
  })
})
