import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

/** A task at version 2, and the path to it. */
async function givenVersionTwo() {
  const { body } = await service.post('/api/tasks', { title: 'A task' })
  await service.patch(`/api/tasks/${body.id}`, { notes: 'Seen' })
  return `/api/tasks/${body.id}`
}

async function recordOf(path: string) {
  const rows = await service.query('select type from activity where task_id = $1 order by id', [
    path.slice(-36),
  ])
  return rows.map(({ type }) => type)
}

describe('If-Match', () => {
  test.each([
    ['the version', '"2"', 200],
    ['any version', '*', 200],
    ['one of several', '"1", "2" ,"7"', 200],
    ['an older version', '"1"', 412],
    ['a version to come', '"3"', 412],
    ['none of several', '"1", "3"', 412],
    ['the version as a weak tag', 'W/"2"', 412],
    ['a weak tag among strong ones', 'W/"1", "2"', 200],
    ['the version in other digits', '"02"', 412],
    ['a tag of someone else', '"abc"', 412],
    ['a tag with a comma', '"a,b"', 412],
    ['an empty tag', '""', 412],
    ['a huge number', `"${'9'.repeat(400)}"`, 412],
    ['no quotes', '2', 400],
    ['one quote', '"2', 400],
    ['nothing', '', 400],
    ['a star among tags', '"2", *', 400],
    ['a weak tag in small letters', 'w/"2"', 400],
    ['too much', `"2"${', "1"'.repeat(400)}`, 400],
  ])('of %s decides whether the task is changed and deleted', async (_, tag, status) => {
    const path = await givenVersionTwo()
    const headers = { 'if-match': tag }

    const patched = await service.patch(path, { title: 'B' }, { headers })
    const deleted = await service.delete(await givenVersionTwo(), { headers })

    expect(patched.status).toBe(status)
    expect(deleted.status).toBe(status === 200 ? 204 : status)
    if (status === 412)
      expect([patched.body.code, deleted.body.code]).toEqual(Array(2).fill('version_mismatch'))
    if (status === 400) expect(patched.body.errors).toMatchObject([{ path: 'header.if-match' }])
    expect((await service.get(path)).body.title).toBe(status === 200 ? 'B' : 'A task')
  })

  test('that is stale returns the current version', async () => {
    const path = await givenVersionTwo()

    const refused = await service.patch(path, { title: 'B' }, { headers: { 'if-match': '"1"' } })

    expect(refused.body.detail).toContain('its version is now 2')
    expect(await recordOf(path)).toEqual(['task.created', 'task.updated'])
  })

  test('applies to a change of nothing as well', async () => {
    const path = await givenVersionTwo()

    expect((await service.patch(path, {}, { headers: { 'if-match': '"1"' } })).status).toBe(412)
  })

  test('of an unknown task is 404 before it is 412', async () => {
    const refused = await service.patch(`/api/tasks/${UNKNOWN_ID}`, {}, { headers: { 'if-match': '"1"' } })

    expect(refused).toMatchObject({ status: 404, body: { code: 'task_not_found' } })
  })
})

describe('a deleted task', () => {
  test('is listed nowhere, and the activity records it', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const { body: task } = await service.post('/api/tasks', { title: 'A task', listId: inbox.id })

    const deleted = await service.delete(`/api/tasks/${task.id}`)

    expect([deleted.status, deleted.body]).toEqual([204, ''])
    expect((await service.get(`/api/tasks/${task.id}`)).body.code).toBe('task_not_found')
    expect((await service.delete(`/api/tasks/${task.id}`)).body.code).toBe('task_not_found')
    expect((await service.get(`/api/tasks?projectId=${projectId}`)).body.data).toEqual([])
    expect(await recordOf(task.id)).toEqual(['task.created', 'task.deleted'])
  })

  test('is restored as it was, two versions later', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task', externalId: 'come-back' })
    await service.delete(`/api/tasks/${task.id}`)

    const restored = await service.post(`/api/tasks/${task.id}/restore`)

    expect(restored.status).toBe(200)
    expect(restored.headers.get('etag')).toBe('"3"')
    expect(restored.body).toEqual({ ...task, version: 3, updatedAt: restored.body.updatedAt })
    expect((await service.get(`/api/tasks/${task.id}`)).body).toEqual(restored.body)
    expect(await recordOf(task.id)).toEqual(['task.created', 'task.deleted', 'task.restored'])
  })

  test('stays deleted when another task has its externalId', async () => {
    const input = { title: 'A task', externalId: 'taken-since' }
    const { body: task } = await service.post('/api/tasks', input)
    await service.delete(`/api/tasks/${task.id}`)
    await service.post('/api/tasks', input)

    const refused = await service.post(`/api/tasks/${task.id}/restore`)

    expect(refused).toMatchObject({ status: 409, body: { code: 'external_id_taken' } })
    expect((await service.get(`/api/tasks/${task.id}`)).status).toBe(404)
    expect(await recordOf(task.id)).toEqual(['task.created', 'task.deleted'])
  })

  test('that never existed is 404', async () => {
    expect(await service.post(`/api/tasks/${UNKNOWN_ID}/restore`)).toMatchObject({
      status: 404,
      body: { code: 'task_not_found' },
    })
  })
})

describe('restoring a task that is not deleted', () => {
  test('returns it unchanged and records nothing', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })

    const response = await service.post(`/api/tasks/${task.id}/restore`)

    expect(response).toMatchObject({ status: 200, body: task })
    expect(await recordOf(task.id)).toEqual(['task.created'])
  })
})
