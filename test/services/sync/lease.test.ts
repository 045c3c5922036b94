import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ApiResponse, startApp, type TestApp } from '../../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import { sumOf, workerOf } from '../../support/syncing.ts'

/** Without a worker of its own: the tests run the workers. */
let service: TestApp
let host: CodeHostFake
const children = new Set<ChildProcess>()
beforeAll(async () => {
  host = await startCodeHost()
  // A machine that stalls must not cause a timeout: each page is requested once.
  service = await startApp({ env: { CODEHOST_API_URLS: host.url }, hostTimeoutMs: 60_000 })
})
afterEach(() => {
  host.onResponse(() => {})
  host.latencyMs = 0
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await service.close()
  await host.close()
})

const script = fileURLToPath(new URL('../../support/sync-process.ts', import.meta.url))

function spawnWorker(): ChildProcess {
  const child = spawn(process.execPath, [script, service.connectionString, host.url], { stdio: 'inherit' })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

async function connected(name: string, items: number) {
  const repository = host.repository(name)
  repository.fill(items)
  const project = await service.given.project()
  await service.put(`/api/projects/${project.id}/codehost`, { repository: name, schedule: 'off' })
  return { project, repository }
}

const runOf = async (id: string) => (await service.query('select * from sync_runs where id = $1', [id]))[0]

const finished = (path: string) =>
  vi.waitFor(
    async () => {
      const { body } = await service.get(path)
      expect(['completed', 'failed']).toContain(body.status)
      return body
    },
    { timeout: 90_000, interval: 200 },
  )

/** Resolves once the listing has been asked for so many pages. */
const pagesAsked = (count: number) =>
  new Promise<void>((done) => {
    host.onResponse(({ url }) => {
      if (url.includes('sort=created') && url.endsWith(`page=${count}`)) done()
    })
  })

describe('a worker', () => {
  test('that is killed at page 40 is replaced within 60 s by one that requests no committed page again', async () => {
    const { project } = await connected('acme/killed', 8_000)
    host.latencyMs = 5
    const reached = pagesAsked(40)
    const child = spawnWorker()
    const since = host.requests.length
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    await reached
    child.kill('SIGKILL')
    await once(child, 'exit')
    const killedAt = Date.now()
    const left = await runOf(run.id)
    expect(left).toMatchObject({ status: 'running' })
    expect(left.fetched).toBeGreaterThanOrEqual(3_800)
    const before = host.requests.length

    const successor = workerOf(service)
    const done = await finished(`/api/codehost/${project.id}/syncs/${run.id}`)
    await successor.stop()
    host.latencyMs = 0
    expect(done).toMatchObject({ status: 'completed', fetched: 8_000, issues: { created: 6_400 } })
    expect(sumOf(done)).toBe(8_000)
    const firstAfter = host.requests[before]
    expect((firstAfter?.receivedAt ?? 0) - killedAt).toBeLessThan(60_000)
    expect(host.url + (firstAfter?.url ?? '')).toBe(left.checkpoint.next)
    // What was asked before the checkpoint was committed; the pages at it were on their way and never written.
    const earlier = host.requests.slice(since, before).map(({ url }) => host.url + url)
    const committed = earlier.slice(0, earlier.indexOf(left.checkpoint.next))
    expect(committed.length).toBeGreaterThanOrEqual(38)
    const asked = host.requests.slice(before).map(({ url }) => host.url + url)
    expect(asked.filter((url) => committed.includes(url))).toEqual([])
  }, 120_000)

  test('that is stopped among the comments is replaced by one that requests no committed page again', async () => {
    const { project, repository } = await connected('acme/stopped-comments', 2)
    for (let i = 0; i < 1_000; i++) repository.comment(1 + (i % 2))
    const body = { repository: repository.name, comments: true }
    await service.put(`/api/projects/${project.id}/codehost`, body)
    const reached = new Promise<void>((done) => {
      host.onResponse(({ url }) => {
        if (url.includes('/comments?') && url.endsWith('page=5')) done()
      })
    })
    const since = host.requests.length
    const first = workerOf(service)
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    await reached
    await first.stop()
    const left = await runOf(run.id)
    expect(left.checkpoint).toMatchObject({ phase: 'comments', list: { phase: 'listing' } })
    const before = host.requests.length
    const second = workerOf(service)
    const done = await finished(`/api/codehost/${project.id}/syncs/${run.id}`)
    await second.stop()
    expect(done).toMatchObject({ status: 'completed', comments: { created: 1_000 } })
    const earlier = host.requests.slice(since, before).map(({ url }) => host.url + url)
    const committed = earlier.slice(0, earlier.indexOf(left.checkpoint.list.next))
    const asked = host.requests.slice(before).map(({ url }) => host.url + url)
    expect(asked[0]).toBe(left.checkpoint.list.next)
    expect(asked.filter((url) => committed.includes(url))).toEqual([])
    const counts = await service.query(
      'select comment_count, (select count(*)::int from comments where task_id = tasks.id) as stored from tasks where project_id = $1',
      [project.id],
    )
    expect(counts).toEqual([1, 2].map(() => ({ comment_count: 500, stored: 500 })))
  }, 120_000)

  test('that is stopped gives up its run at once', async () => {
    const { project } = await connected('acme/stopped', 3_000)
    host.latencyMs = 20
    const reached = pagesAsked(5)
    const first = workerOf(service)
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    await reached
    await first.stop()
    const [left] = await service.query(
      'select status, lease_until <= clock_timestamp() as "isFree" from sync_runs where id = $1',
      [run.id],
    )
    expect(left).toEqual({ status: 'running', isFree: true })
    host.latencyMs = 0
    const second = workerOf(service)
    const done = await finished(`/api/codehost/${project.id}/syncs/${run.id}`)
    await second.stop()
    expect(done).toMatchObject({ status: 'completed', fetched: 3_000 })
  }, 120_000)

  test('that lost its lease writes nothing more', async () => {
    const { project } = await connected('acme/lost', 500)
    host.latencyMs = 100
    const reached = pagesAsked(2)
    const worker = workerOf(service)
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    await reached
    // As when it hung so long that another one took the run.
    await service.query(
      "update sync_runs set lease = lease + 1, lease_until = now() + interval '1 hour' where id = $1",
      [run.id],
    )
    const [before] = await service.query('select count(*)::int from tasks where project_id = $1', [
      project.id,
    ])
    const requests = host.requests.length
    await new Promise((done) => setTimeout(done, 1_500))
    host.latencyMs = 0
    const [after] = await service.query('select count(*)::int from tasks where project_id = $1', [project.id])
    expect(after.count).toBe(before.count)
    expect(host.requests.length - requests).toBeLessThanOrEqual(1)
    await worker.stop()
  }, 120_000)

  test('shares the runs of a database with others, each run worked on by one', async () => {
    const workers = [workerOf(service), workerOf(service), workerOf(service)]
    const projects = []
    for (let i = 0; i < 4; i++) projects.push((await connected(`acme/many-${i}`, 250)).project)
    const runs = await Promise.all(projects.map(({ id }) => service.post(`/api/codehost/${id}/sync`)))
    for (const { headers } of runs) {
      expect(await finished(headers.get('location') ?? '')).toMatchObject({
        status: 'completed',
        fetched: 250,
      })
    }
    await Promise.all(workers.map((worker) => worker.stop()))
    const leases = await service.query('select lease from sync_runs where id = any($1)', [
      runs.map(({ body }) => body.id),
    ])
    expect(leases.map(({ lease }) => lease)).toEqual([1, 1, 1, 1])
  }, 120_000)

  test('does not block other runs during a long one, neither a new run nor one whose worker died', async () => {
    const long = await connected('acme/long', 4_000)
    const left = await connected('acme/left', 150)
    const short = await connected('acme/short', 150)
    const [longRun, leftRun] = [long, left].map(({ project }) =>
      service.post(`/api/codehost/${project.id}/sync`),
    )
    const runs = { long: (await longRun)?.body, left: (await leftRun)?.body }
    // Claimed by a worker that died: its lease is over.
    await service.query(
      "update sync_runs set status = 'running', lease = 1, attempts = 1, lease_until = now() where id = $1",
      [runs.left.id],
    )
    host.latencyMs = 20
    const { promise: queued, resolve } = Promise.withResolvers<ApiResponse>()
    host.onResponse(({ url }) => {
      if (!url.endsWith('&page=3')) return
      resolve(service.post(`/api/codehost/${short.project.id}/sync`))
      return queued
    })
    const since = host.requests.length
    // A turn is eleven pages at the most, and the others need three turns each: the long run cannot end before them.
    const worker = workerOf(service, { concurrency: 1, turnMs: 200 })
    const run = (await queued).body

    const [done, ...others] = await Promise.all([
      finished(`/api/codehost/${long.project.id}/syncs/${runs.long.id}`),
      finished(`/api/codehost/${short.project.id}/syncs/${run.id}`),
      finished(`/api/codehost/${left.project.id}/syncs/${runs.left.id}`),
    ])
    await worker.stop()
    expect(others).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    for (const { finishedAt } of others)
      expect(Date.parse(finishedAt)).toBeLessThan(Date.parse(done.finishedAt))
    expect(done).toMatchObject({ status: 'completed', fetched: 4_000 })
    expect(sumOf(done)).toBe(4_000)
    const pages = host.requests.slice(since).map(({ url }) => url)
    expect(new Set(pages).size).toBe(pages.length)
  }, 120_000)

  test('leaves a run to others at once when it stops, also while it extends its lease slowly', async () => {
    const { project } = await connected('acme/extended', 10)
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    const claimed = await service.service.sync.claim()
    if (!claimed || claimed.id !== run.id) throw new Error('Another run was claimed, or none.')
    const isSlow = Promise.withResolvers<void>()
    const { renew } = service.repos.syncQueue
    const extending = vi.spyOn(service.repos.syncQueue, 'renew').mockImplementation(async (lease) => {
      await isSlow.promise
      return renew(lease)
    })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const stopping = new AbortController()
    host.onResponse(() => {
      vi.advanceTimersByTime(15_000)
      stopping.abort()
    })
    const done = service.service.sync.work(claimed, { stop: stopping.signal })
    await vi.waitFor(() => expect(stopping.signal.aborted).toBe(true), { timeout: 10_000 })
    expect(extending).toHaveBeenCalledTimes(1)
    await service.get(`/api/codehost/${project.id}/syncs/${run.id}`)
    isSlow.resolve()
    await Promise.all([done, ...extending.mock.results.map(({ value }) => value)])
    vi.useRealTimers()
    extending.mockRestore()

    expect(await service.service.sync.claim()).toMatchObject({ id: run.id, lease: claimed.lease + 1 })
    host.onResponse(() => {})
    await service.query('update sync_runs set lease_until = null where id = $1', [run.id])
    const worker = workerOf(service)
    expect(await finished(`/api/codehost/${project.id}/syncs/${run.id}`)).toMatchObject({
      status: 'completed',
    })
    await worker.stop()
  })

  test('fails a run that repeatedly kills its workers', async () => {
    const { project } = await connected('acme/poison', 10)
    const run = (await service.post(`/api/codehost/${project.id}/sync`)).body
    await service.query('update sync_runs set attempts = 5 where id = $1', [run.id])
    const worker = workerOf(service)
    const done = await finished(`/api/codehost/${project.id}/syncs/${run.id}`)
    await worker.stop()
    expect(done).toMatchObject({ status: 'failed', error: { code: 'internal_error' } })
  })
})
