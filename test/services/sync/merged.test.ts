import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { writer: {} } })
})
afterAll(() => service.close())

const CLOSED_AT = Date.parse('2026-01-02T03:04:05.000Z')
const closed = { state: 'closed' as const, stateReason: 'not_planned', closedAt: CLOSED_AT }
const reopened = { state: 'open' as const, stateReason: null, closedAt: null }

/** Two issues, the first merged into the second. */
async function givenMerged(state: 'open' | 'closed' = 'open', change: object = {}) {
  const { project, repository, sync } = await service.connected({ token: 'writer', writeBack: 'state' })
  repository.issue(state === 'closed' ? closed : {})
  repository.issue({})
  await sync()
  const rows = await service.tasksOf(project.id)
  const [id, into] = [rows.get(1).id as string, rows.get(2).id as string]
  if (Object.keys(change).length > 0) await service.patch(`/api/tasks/${id}`, change)
  const requestsBefore = service.host.requests.length
  expect((await service.post(`/api/tasks/${id}/merge`, { into })).status).toBe(200)
  return {
    id,
    into,
    requestsBefore,
    /** Changes the issue at the host, and syncs. */
    change: async (values: object) => {
      repository.change(1, values)
      return sync()
    },
    task: async () => (await service.get(`/api/tasks/${id}`)).body,
    unmerge: async () => (await service.post(`/api/tasks/${id}/unmerge`)).body,
    types: async () =>
      (await service.query('select type from activity where task_id = $1 order by id', [id])).map(
        ({ type }) => type,
      ),
  }
}

describe('while the task of an issue is merged', () => {
  test('the host closing it changes only what it becomes when it is unmerged', async () => {
    const { id, into, change, task, unmerge, types } = await givenMerged()
    const before = await task()

    const run = await change(closed)

    expect(run).toMatchObject({ status: 'completed', issues: { updated: 1, closed: 0 } })
    expect(await task()).toEqual({
      ...before,
      completedAt: '2026-01-02T03:04:05.000Z',
      updatedAt: expect.any(String),
      version: before.version + 1,
    })
    expect(await unmerge()).toMatchObject({
      status: 'done',
      closedReason: 'not_planned',
      mergedInto: null,
      completedAt: '2026-01-02T03:04:05.000Z',
    })
    expect((await service.get(`/api/tasks/${into}`)).body.reports).toBe(1)
    expect(await types()).toEqual(['task.created', 'task.merged', 'task.unmerged'])
    expect(id).toBe((await task()).id)
  })

  test('the host closing and reopening it leaves it open', async () => {
    const { change, task, unmerge } = await givenMerged()
    await change(closed)
    await change(reopened)
    expect(await task()).toMatchObject({ status: 'done', closedReason: 'duplicate' })
    expect(await unmerge()).toMatchObject({ status: 'open', closedReason: null, completedAt: null })
  })

  test('the host reopening one that was closed before makes it open', async () => {
    const { change, task, unmerge } = await givenMerged('closed')
    const { version } = await task()
    const run = await change(reopened)
    expect(run.issues).toMatchObject({ reopened: 0, updated: 0, closed: 0 })
    expect(await task()).toMatchObject({ status: 'done', closedReason: 'duplicate', version })
    expect(await unmerge()).toMatchObject({ status: 'open', closedReason: null })
  })

  test('other changes at the host are applied, and the local status is kept', async () => {
    const { change, task, unmerge, types } = await givenMerged('open', { status: 'in_progress' })
    await change({ title: 'Another title', labels: ['bug'] })
    expect(await task()).toMatchObject({
      title: 'Another title',
      labels: ['bug'],
      status: 'done',
      closedReason: 'duplicate',
    })
    expect(await unmerge()).toMatchObject({ status: 'in_progress', title: 'Another title' })
    expect((await types()).slice(-3)).toEqual(['task.merged', 'task.updated', 'task.unmerged'])
  })

  test('merging and unmerging ask the host for nothing, and write nothing', async () => {
    const { id, requestsBefore, unmerge } = await givenMerged()
    await unmerge()
    expect(service.host.requests.slice(requestsBefore)).toEqual([])
    expect(await service.query('select from codehost_writes where task_id = $1', [id])).toEqual([])
  })
})
