import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, codeOf, startApp, type TestApp } from '../../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import { type Locks, locksOf } from '../../support/locks.ts'

/** Without a worker of its own: the tests start the work on a run, and get its outcome. */
let service: TestApp
let host: CodeHostFake
let locks: Locks
beforeAll(async () => {
  host = await startCodeHost()
  // A delayed page must not count as a timeout.
  service = await startApp({ env: { CODEHOST_API_URLS: host.url }, hostTimeoutMs: 60_000 })
  locks = locksOf(service)
})
afterEach(() => {
  host.onResponse(() => {})
  host.heal()
})
afterAll(async () => {
  await service.close()
  await host.close()
})

let names = 0

async function connected(items: number) {
  const repository = host.repository(`acme/app-${++names}`)
  repository.fill(items)
  const project = await service.given.project()
  await connect(project.id, repository.name)
  return { project, repository }
}

const connect = (projectId: string, repository: string, more = {}) =>
  service.put(`/api/projects/${projectId}/codehost`, { repository, schedule: 'off', ...more })

/** Starts a run and works on it: `done` when it has ended, and fails with what breaks it. */
async function startWork(projectId: string, query = '') {
  const { body } = await service.post(`/api/codehost/${projectId}/sync${query}`)
  const claimed = await service.service.sync.claim()
  if (!claimed || claimed.id !== body.id) throw new Error('Another run was claimed, or none.')
  const done = service.service.sync.work(claimed, { stop: new AbortController().signal })
  return { id: body.id as string, done }
}

/** A project whose scheduled run is being queued, blocked in the middle of it until `release`. */
async function comingDue() {
  const { project, repository } = await connected(1)
  await connect(project.id, repository.name, { schedule: 'hourly' })
  await service.query('update codehost_connections set next_run_at = now() where project_id = $1', [
    project.id,
  ])
  const release = await locks.acquire('lock table sync_runs in share mode')
  const queued = service.service.sync.enqueueDue()
  await locks.waiting(1, queued)
  return { project, queued, release }
}

async function synced(projectId: string, query = '') {
  const { id, done } = await startWork(projectId, query)
  await done
  return runOf(projectId, id)
}

const runOf = async (projectId: string, id: string) =>
  (await service.get(`/api/codehost/${projectId}/syncs/${id}`)).body

const tasksOf = (projectId: string) =>
  service.query('select * from tasks where project_id = $1 order by codehost_number', [projectId])

/** Blocks pages between their first lock and their first write. */
const delayPages = () => locks.acquire('lock table purged_entries in access exclusive mode')

/** Delays pages of a listing until the returned function is called. */
function delayResponses(isDelayed: (url: string) => boolean) {
  const { promise, resolve } = Promise.withResolvers<void>()
  host.onResponse(({ url }) => (isDelayed(url) ? promise : undefined))
  return resolve
}

const isListing = (url: string) => url.includes('sort=created')
const isSecondPage = (url: string) => isListing(url) && url.endsWith('page=2')

const DISCONNECTIONS: [string, (projectId: string) => Promise<ApiResponse>][] = [
  ['disconnecting', (id) => service.delete(`/api/projects/${id}/codehost`)],
  [
    'connecting another repository',
    (id) => {
      const other = host.repository(`acme/app-${++names}`)
      other.fill(3)
      return connect(id, other.name)
    },
  ],
]

describe.each(DISCONNECTIONS)('%s', (_, disconnect) => {
  test('while a page is requested: nothing of it is stored, and the run has failed', async () => {
    const { project } = await connected(250)
    let ended: unknown
    host.onResponse(async ({ url }) => {
      if (ended || !isSecondPage(url)) return
      await disconnect(project.id)
      ended = (await service.get(`/api/codehost/${project.id}/syncs`)).body.data[0]
    })
    const run = await synced(project.id)
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'disconnected' } })
    expect(run).toEqual(ended)
    expect(await tasksOf(project.id)).toHaveLength(run.fetched)
    expect(run.fetched).toBeLessThanOrEqual(100)
  })

  test('while a page is being stored: that page is complete, and nothing is stored after it', async () => {
    const { project, repository } = await connected(150)
    await synced(project.id)
    for (const number of repository.items.keys()) repository.change(number, { title: 'Changed' })
    repository.fill(100)
    const release = await delayPages()
    const sendSecond = delayResponses(isSecondPage)
    const { id, done } = await startWork(project.id, '?mode=full')
    await locks.waiting(1, done)
    const response = disconnect(project.id)
    await locks.waiting(2, response)
    await release()
    expect((await response).status).toBeLessThan(300)
    sendSecond()
    await done
    const run = await runOf(project.id, id)
    expect(run).toMatchObject({ status: 'failed', fetched: 100, error: { code: 'disconnected' } })
    const tasks = await tasksOf(project.id)
    expect(tasks).toHaveLength(150)
    expect(tasks.filter(({ title }) => title === 'Changed')).toHaveLength(100)
  })

  test('while a run is queued: the queued run ends as well', async () => {
    const { project, queued, release } = await comingDue()
    const response = disconnect(project.id)
    await locks.waiting(2, response)
    await release()
    await queued
    expect((await response).status).toBeLessThan(300)
    const { data } = (await service.get(`/api/codehost/${project.id}/syncs`)).body
    expect(data).toMatchObject([{ status: 'failed', error: { code: 'disconnected' } }])
  })
})

describe('a run whose connection was replaced', () => {
  /** As when whoever did it knew nothing of runs. */
  const replace = (projectId: string) =>
    service.query(
      'update codehost_connections set id = gen_random_uuid(), repository_id = repository_id + 500000 where project_id = $1',
      [projectId],
    )

  test('stores no page', async () => {
    const { project } = await connected(250)
    let isDone = false
    host.onResponse(async ({ url }) => {
      if (isDone || !url.endsWith('page=2')) return
      isDone = true
      await replace(project.id)
    })
    const run = await synced(project.id)
    expect(isDone).toBe(true)
    expect(run).toMatchObject({ status: 'failed', error: { code: 'disconnected' } })
    expect(await tasksOf(project.id)).toHaveLength(run.fetched)
    expect(run.fetched).toBeLessThanOrEqual(100)
  })

  test('marks nothing as deleted', async () => {
    const { project, repository } = await connected(20)
    await synced(project.id)
    repository.remove(3)
    let isDone = false
    host.onResponse(async ({ url }) => {
      if (isDone || !/issues\/3$/.test(url)) return
      isDone = true
      await replace(project.id)
    })
    const run = await synced(project.id, '?mode=full')
    expect(isDone).toBe(true)
    expect(run).toMatchObject({ status: 'failed', gone: 0, error: { code: 'disconnected' } })
    expect((await tasksOf(project.id)).filter(({ source_state }) => source_state !== 'present')).toEqual([])
  })
})

describe('deleting the project', () => {
  test('while the first page is being stored: one waits for the other', async () => {
    const { project } = await connected(50)
    const release = await delayPages()
    const { done } = await startWork(project.id)
    await locks.waiting(1, done)
    const response = service.delete(`/api/projects/${project.id}`)
    await locks.waiting(2, response)
    await release()
    await done
    // The page came first, so it is not empty any more.
    expect((await response).body.code).toBe('project_not_empty')
    expect(await tasksOf(project.id)).toHaveLength(50)
  })

  test('while the first page is requested: it is refused, as the project is connected, and the page waits', async () => {
    const { project } = await connected(50)
    const send = delayResponses(isListing)
    const { done } = await startWork(project.id)
    // Blocked in the middle: it has locked the project, and not yet its lists.
    const release = await locks.acquire(`select from lists where project_id = '${project.id}' for update`)
    const response = service.delete(`/api/projects/${project.id}`)
    await locks.waiting(1, response)
    send()
    await locks.waiting(2, response, done)
    await release()
    expect(codeOf(await response)).toEqual([409, 'project_in_use'])
    await done
    expect(await tasksOf(project.id)).toHaveLength(50)
  })

  test('while a run is queued: it is refused, and the run is queued', async () => {
    const { project, queued, release } = await comingDue()
    const response = service.delete(`/api/projects/${project.id}`)
    await locks.waiting(2, response)
    await release()
    await queued
    expect(codeOf(await response)).toEqual([409, 'project_in_use'])
    expect((await service.get(`/api/codehost/${project.id}/syncs`)).body.data).toMatchObject([
      { status: 'queued' },
    ])
    await service.delete(`/api/projects/${project.id}/codehost`)
  })

  test('while the trash is cleaned up: its tasks are left to the deletion', async () => {
    const { project } = await connected(5)
    await synced(project.id)
    await service.delete(`/api/projects/${project.id}/codehost`)
    await service.query("update tasks set deleted_at = now() - interval '31 days' where project_id = $1", [
      project.id,
    ])
    const release = await locks.acquire(`select from projects where id = '${project.id}' for update`)
    const response = service.delete(`/api/projects/${project.id}`)
    await locks.waiting(1, response)
    const deleted = service.service.cleanup.cleanUp()
    await locks.waiting(2, deleted)
    await release()
    expect((await response).status).toBe(204)
    expect(await deleted).toEqual({ purgedTasks: 0 })
  })
})

describe('while a page is being stored', () => {
  test('deleting its list waits', async () => {
    const { project, repository } = await connected(20)
    const list = await service.given.list(project.id)
    await connect(project.id, repository.name, { listId: list.id })
    await synced(project.id)
    for (const number of repository.items.keys()) repository.change(number, { title: 'Changed' })
    repository.fill(20)
    const release = await delayPages()
    const { id, done } = await startWork(project.id)
    await locks.waiting(1, done)
    const response = service.delete(`/api/lists/${list.id}?moveTo=${project.inbox.id}`)
    await locks.waiting(2, response)
    await release()
    await done
    expect((await response).status).toBe(204)
    expect(await runOf(project.id, id)).toMatchObject({ status: 'completed' })
    const tasks = await tasksOf(project.id)
    expect(tasks.map(({ list_id }) => list_id)).toEqual(Array(40).fill(project.inbox.id))
  })

  test('archiving waits, and nothing is stored afterwards', async () => {
    const { project } = await connected(250)
    const release = await delayPages()
    const sendSecond = delayResponses(isSecondPage)
    const { id, done } = await startWork(project.id)
    await locks.waiting(1, done)
    const archived = service
      .post(`/api/projects/${project.id}/archive`)
      .then(async ({ status }) => ({ status, tasks: await tasksOf(project.id) }))
    await locks.waiting(2, archived)
    await release()
    const { status, tasks } = await archived
    sendSecond()
    await done
    expect(status).toBe(200)
    expect(tasks).toHaveLength(100)
    expect(await tasksOf(project.id)).toHaveLength(tasks.length)
    expect(await runOf(project.id, id)).toMatchObject({
      status: 'failed',
      error: { code: 'project_archived' },
    })
  })
})

test('in a project archived in the meantime nothing is marked as deleted', async () => {
  const { project, repository } = await connected(20)
  await synced(project.id)
  repository.remove(3)
  host.onResponse(async ({ url }) => {
    if (/issues\/3$/.test(url)) await service.post(`/api/projects/${project.id}/archive`)
  })
  const run = await synced(project.id, '?mode=full')
  expect(run).toMatchObject({ status: 'failed', gone: 0, error: { code: 'project_archived' } })
  expect((await tasksOf(project.id)).filter(({ source_state }) => source_state !== 'present')).toEqual([])
})
