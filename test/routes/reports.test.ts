import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { idsOf, reportsOn } from '../support/reports.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const { merge, unmerge, reportsOf, givenTasks } = reportsOn(() => service)
const activityOf = async (taskId: string) =>
  service.query(`select type, metadata from activity where task_id = $1 order by id`, [taskId])

/** The message of a conflict; fails if the response is none. */
function conflictOf({ status, body }: { status: number; body: { code: string; detail: string } }): string {
  expect([status, body.code]).toEqual([409, 'merge_conflict'])
  return body.detail
}

describe('a merge', () => {
  test('makes the task a report, which is done as a duplicate, and counts it', async () => {
    const { ids } = await givenTasks(2, { status: 'in_progress' })
    const [task, target] = ids
    const before = { task: await service.task(task), target: await service.task(target) }

    const merged = await merge(task, target)

    expect(merged.status).toBe(200)
    expect(merged.headers.get('etag')).toBe('"2"')
    expect(merged.body).toEqual({
      ...before.task,
      status: 'done',
      closedReason: 'duplicate',
      mergedInto: target,
      completedAt: merged.body.updatedAt,
      updatedAt: expect.any(String),
      version: 2,
    })
    expect(await service.task(task)).toEqual(merged.body)
    // The count changes neither the version of the target nor when it was updated.
    expect(await service.task(target)).toEqual({ ...before.target, reports: 2 })
    expect(idsOf(await reportsOf(target))).toEqual([task])
    expect(await activityOf(task)).toEqual([
      { type: 'task.merged', metadata: { into: target, from: 'in_progress' } },
    ])
    expect(await activityOf(target)).toEqual([
      { type: 'task.report_added', metadata: { reportId: task, reports: 2 } },
    ])
  })

  test('is undone by unmerging, with the status before', async () => {
    const { ids } = await givenTasks(2, { status: 'in_progress' })
    const [task, target] = ids
    const before = { task: await service.task(task), target: await service.task(target) }
    await merge(task, target)

    const { status, body } = await unmerge(task)

    expect(status).toBe(200)
    expect(body).toEqual({ ...before.task, updatedAt: expect.any(String), version: 3 })
    expect(await service.task(target)).toEqual(before.target)
    expect(await reportsOf(target)).toEqual({ data: [], nextCursor: null })
    expect((await activityOf(task)).at(-1)).toEqual({
      type: 'task.unmerged',
      metadata: { from: target, to: 'in_progress' },
    })
    expect((await activityOf(target)).at(-1)).toEqual({
      type: 'task.report_removed',
      metadata: { reportId: task, reports: 1 },
    })
  })

  test('of a task that was done keeps when it was completed', async () => {
    const completedAt = new Date('2026-01-02T03:04:05.000Z')
    const { project, ids } = await givenTasks()
    const done = await service.given.task(project.inbox, { status: 'done', completedAt })
    expect((await merge(done.id, ids[0])).body.completedAt).toBe(completedAt.toISOString())
    expect((await unmerge(done.id)).body).toMatchObject({
      status: 'done',
      closedReason: null,
      completedAt: completedAt.toISOString(),
    })
  })

  test('is changed by no repetition', async () => {
    const { ids } = await givenTasks()
    const [task, target] = ids
    const { body: first } = await merge(task.toUpperCase(), target.toUpperCase())
    expect(await merge(task, target)).toMatchObject({ status: 200, body: first })
    expect((await service.task(target)).reports).toBe(2)
    const { body: undone } = await unmerge(task)
    expect(await unmerge(task)).toMatchObject({ status: 200, body: undone })
    expect((await service.task(target)).reports).toBe(1)
    expect(await activityOf(task)).toHaveLength(2)
  })

  test('requires the scope of writes, and shows a key without reads only the version', async () => {
    const { project, ids } = await givenTasks()
    const [task, target] = ids
    const reader = await service.given.key({ projectId: project.id, scopes: ['tasks:read'] })
    expect((await merge(task, target, { key: reader })).body.code).toBe('insufficient_scope')
    expect((await unmerge(task, { key: reader })).body.code).toBe('insufficient_scope')
    const writer = await service.given.key({ projectId: project.id, scopes: ['tasks:write'] })
    expect((await merge(task, target, { key: writer })).body).toEqual({ id: task, version: 2 })
    expect((await service.get(`/api/tasks/${target}/reports`, { key: writer })).body.code).toBe(
      'insufficient_scope',
    )
    expect((await unmerge(task, { key: writer })).body).toEqual({ id: task, version: 3 })
  })
})

describe('a merge is refused', () => {
  test('into itself, into a report, and of a task with reports', async () => {
    const { ids } = await givenTasks(4)
    const [task, target, report, other] = ids as [string, string, string, string]
    expect(conflictOf(await merge(task, task))).toMatch(/into itself\. Choose another task\.$/)
    await merge(report, target)
    expect(conflictOf(await merge(task, report))).toContain(target)
    expect(conflictOf(await merge(target, task))).toMatch(/Other tasks are merged into/)
    expect(conflictOf(await merge(target, report))).toBeTruthy()
    expect(conflictOf(await merge(report, other))).toMatch(/Unmerge it first/)
    expect((await service.task(task)).version).toBe(1)
    expect((await service.task(target)).reports).toBe(2)
    expect((await service.task(other)).reports).toBe(1)
  })

  test('across projects, and into a task that the key cannot access', async () => {
    const [here, there] = [await givenTasks(), await givenTasks()]
    expect(conflictOf(await merge(here.ids[0], there.ids[0]))).toMatch(/same project/)
    const key = await service.given.key({ projectId: here.project.id, scopes: ['tasks:write', 'tasks:read'] })
    for (const [id, into] of [
      [here.ids[0], there.ids[0]],
      [there.ids[0], here.ids[0]],
      [here.ids[0], UNKNOWN_ID],
    ] as const) {
      const { status, body } = await merge(id, into, { key })
      expect([status, body.code]).toEqual([404, 'task_not_found'])
    }
    expect((await unmerge(there.ids[0], { key })).body.code).toBe('task_not_found')
    expect((await service.get(`/api/tasks/${there.ids[0]}/reports`, { key })).body.code).toBe(
      'task_not_found',
    )
  })

  test('with a deleted task, in an archived project, and without a valid target', async () => {
    const { project, ids } = await givenTasks(3)
    const [task, target, deleted] = ids as [string, string, string]
    await service.delete(`/api/tasks/${deleted}`)
    expect((await merge(task, deleted)).body.code).toBe('task_not_found')
    expect((await merge(deleted, task)).body.code).toBe('task_not_found')
    expect((await service.get(`/api/tasks/${deleted}/reports`)).body.code).toBe('task_not_found')
    for (const body of [{}, { into: 'x' }, { into: null }, { into: target, force: true }])
      expect((await service.post(`/api/tasks/${task}/merge`, body)).body.code).toBe('validation_failed')
    await service.post(`/api/projects/${project.id}/archive`)
    expect((await merge(task, target)).body.code).toBe('project_archived')
    expect((await unmerge(task)).body.code).toBe('project_archived')
  })
})

describe('while it is merged, a task', () => {
  test('keeps its status, and takes every other change', async () => {
    const { project, ids } = await givenTasks()
    const [task, target] = ids
    await merge(task, target)
    for (const status of ['open', 'in_progress']) {
      expect(conflictOf(await service.patch(`/api/tasks/${task}`, { status }))).toContain(target)
      const change = { ids: [task, target], change: { status } }
      expect(conflictOf(await service.patch('/api/tasks/bulk', change))).toContain(target)
    }
    const list = await service.given.list(project.id)
    const { body } = await service.patch(`/api/tasks/${task}`, {
      status: 'done',
      notes: 'n',
      listId: list.id,
    })
    expect(body).toMatchObject({ notes: 'n', listId: list.id, mergedInto: target, version: 3 })
    const done = await service.patch(`/api/tasks/${target}`, { status: 'done' })
    expect(done.body).toMatchObject({ status: 'done', reports: 2 })
  })

  test('is not reopened by a create with its externalId', async () => {
    const { project, ids } = await givenTasks()
    const body = { title: 'Fired', externalId: 'alert', listId: project.inbox.id }
    const { body: task } = await service.post('/api/tasks', body)
    await merge(task.id, ids[0])
    const query = '?onExisting=update&reopen=true'
    const again = await service.post(`/api/tasks${query}`, { ...body, title: 'Fired again' })
    expect(again).toMatchObject({
      status: 200,
      body: { id: task.id, title: 'Fired again', status: 'done', mergedInto: ids[0] },
    })
  })

  test('stays in its project, as does its target', async () => {
    const { ids } = await givenTasks()
    const [task, target] = ids
    const { inbox } = await service.given.project()
    await merge(task, target)
    for (const id of ids) {
      conflictOf(await service.patch(`/api/tasks/${id}`, { listId: inbox.id }))
      conflictOf(await service.patch('/api/tasks/bulk', { ids: [id], change: { listId: inbox.id } }))
    }
    await unmerge(task)
    expect((await service.patch(`/api/tasks/${target}`, { listId: inbox.id })).status).toBe(200)
  })

  test('keeps its target from being deleted', async () => {
    const { ids } = await givenTasks()
    const [task, target] = ids
    await merge(task, target)
    expect(conflictOf(await service.delete(`/api/tasks/${target}`))).toMatch(/Unmerge them first/)
    await unmerge(task)
    expect((await service.delete(`/api/tasks/${target}`)).status).toBe(204)
  })
})

describe('a deleted report', () => {
  test('is not counted, and is counted again once it is restored', async () => {
    const { ids } = await givenTasks()
    const [task, target] = ids
    await merge(task, target)
    await service.delete(`/api/tasks/${task}`)
    expect((await service.task(target)).reports).toBe(1)
    expect(idsOf(await reportsOf(target))).toEqual([])
    expect((await unmerge(task)).body.code).toBe('task_not_found')

    const { body } = await service.post(`/api/tasks/${task}/restore`)

    expect(body).toMatchObject({ status: 'done', mergedInto: target })
    expect((await service.task(target)).reports).toBe(2)
    const types = (await activityOf(target)).map(({ type }) => type)
    expect(types).toEqual(['task.report_added', 'task.report_removed', 'task.report_added'])
  })

  test.each(['deleted', 'moved', 'merged', 'purged'])(
    'is restored unmerged if its target was %s',
    async (how) => {
      const { ids } = await givenTasks(3, { status: 'in_progress' })
      const [task, target, other] = ids as [string, string, string]
      await merge(task, target)
      await service.delete(`/api/tasks/${task}`)
      if (how === 'moved') {
        const { inbox } = await service.given.project()
        await service.patch(`/api/tasks/${target}`, { listId: inbox.id })
      } else if (how === 'merged') await merge(target, other)
      else await service.delete(`/api/tasks/${target}`)
      if (how === 'purged') await service.query('delete from tasks where id = $1', [target])

      const { status, body } = await service.post(`/api/tasks/${task}/restore`)

      expect(status).toBe(200)
      expect(body).toMatchObject({
        status: 'in_progress',
        mergedInto: null,
        closedReason: null,
        completedAt: null,
      })
      const types = (await activityOf(task)).map(({ type }) => type)
      expect(types).toEqual(['task.merged', 'task.deleted', 'task.restored', 'task.unmerged'])
      if (how === 'deleted') {
        expect((await service.post(`/api/tasks/${target}/restore`)).body.reports).toBe(1)
      }
    },
  )
})
