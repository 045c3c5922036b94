import { describe, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../../support/app.ts'
import type { CodeHostFake } from '../../support/code-host.ts'
import type { Locks } from '../../support/locks.ts'
import { isListing, isSecondPage, runsByHand } from '../../support/runs-by-hand.ts'

let service: TestApp
let host: CodeHostFake
let locks: Locks
const { connected, connect, startWork, comingDue, synced, runOf, tasksOf, delayPages, delayResponses } =
  runsByHand((running) => {
    ;({ service, host, locks } = running)
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
