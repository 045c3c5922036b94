import { describe, expect, test } from 'vitest'
import type { ApiResponse, TestApp } from '../../support/app.ts'
import type { CodeHostFake } from '../../support/code-host.ts'
import type { Locks } from '../../support/locks.ts'
import { isSecondPage, runsByHand } from '../../support/runs-by-hand.ts'

let service: TestApp
let host: CodeHostFake
let locks: Locks
const {
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
} = runsByHand((running) => {
  ;({ service, host, locks } = running)
})

const DISCONNECTIONS: [string, (projectId: string) => Promise<ApiResponse>][] = [
  ['disconnecting', (id) => service.delete(`/api/projects/${id}/codehost`)],
  ['connecting another repository', (id) => connect(id, filled(3).name)],
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
