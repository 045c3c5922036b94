import { afterAll, afterEach, beforeAll } from 'vitest'
import { startApp, type TestApp } from './app.ts'
import { type CodeHostFake, startCodeHost } from './code-host.ts'
import { type Locks, locksOf } from './locks.ts'

interface Running {
  /** Without a worker of its own: the tests start the work on a run, and get its outcome. */
  service: TestApp
  host: CodeHostFake
  locks: Locks
}

/** For the tests of the file that calls this: runs that stop where the test says. */
export function runsByHand(onStart: (running: Running) => void) {
  let service: TestApp
  let host: CodeHostFake
  let locks: Locks
  beforeAll(async () => {
    host = await startCodeHost()
    // A delayed page must not count as a timeout.
    service = await startApp({ env: { CODEHOST_API_URLS: host.url }, hostTimeoutMs: 60_000 })
    locks = locksOf(service)
    onStart({ service, host, locks })
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

  function filled(items: number) {
    const repository = host.repository(`acme/app-${++names}`)
    repository.fill(items)
    return repository
  }

  async function connected(items: number) {
    const repository = filled(items)
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
  const delayPages = () => locks.acquire('lock table purged_items in access exclusive mode')

  /** Delays pages of a listing until the returned function is called. */
  function delayResponses(isDelayed: (url: string) => boolean) {
    const { promise, resolve } = Promise.withResolvers<void>()
    host.onResponse(({ url }) => (isDelayed(url) ? promise : undefined))
    return resolve
  }

  return {
    filled,
    connected,
    connect,
    startWork,
    comingDue,
    synced,
    runOf,
    tasksOf,
    delayPages,
    delayResponses,
  }
}

export const isListing = (url: string) => url.includes('sort=created')
export const isSecondPage = (url: string) => isListing(url) && url.endsWith('page=2')
