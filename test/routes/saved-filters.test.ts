import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

const PATH = '/api/saved-filters'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('a saved filter', () => {
  test('is created, read, changed, listed and deleted, with the number of its tasks', async () => {
    const key = await service.given.key()
    const { id: projectId, inbox } = await service.given.project()
    for (const title of ['Crash one', 'Crash two', 'Other']) await service.given.task(inbox, { title })
    await service.given.task(inbox, { title: 'Crash three', status: 'done', completedAt: new Date() })
    const query = { projectId, q: 'crash', status: ['open'] }

    const made = await service.post(PATH, { name: ' Crashes ', query }, { key })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({ id: expect.any(String), name: 'Crashes', query, count: 2 })
    expect(made.headers.get('location')).toBe(`${PATH}/${made.body.id}`)
    const path = `${PATH}/${made.body.id}`
    expect((await service.get(path, { key })).body).toEqual(made.body)

    const renamed = await service.patch(path, { name: 'All crashes' }, { key })
    const widened = await service.patch(path, { query: { projectId, q: 'crash' } }, { key })

    expect(renamed.body).toEqual({ ...made.body, name: 'All crashes' })
    expect(widened.body).toEqual({ ...renamed.body, query: { projectId, q: 'crash' }, count: 3 })
    expect((await service.get(PATH, { key })).body).toEqual({ data: [widened.body], nextCursor: null })

    expect((await service.delete(path, { key })).status).toBe(204)
    expect((await service.delete(path, { key })).body.code).toBe('saved_filter_not_found')
    expect((await service.get(PATH, { key })).body.data).toEqual([])
  })

  test('belongs to its key, and to no other', async () => {
    const [mine, theirs] = [await service.given.key(), await service.given.key()]
    const { body } = await service.post(PATH, { name: 'Mine', query: {} }, { key: mine })
    const path = `${PATH}/${body.id}`

    for (const refused of [
      await service.get(path, { key: theirs }),
      await service.patch(path, { name: 'Theirs' }, { key: theirs }),
      await service.delete(path, { key: theirs }),
    ]) {
      expect(refused).toMatchObject({ status: 404, body: { code: 'saved_filter_not_found' } })
    }
    expect((await service.get(PATH, { key: theirs })).body.data).toEqual([])
    expect((await service.get(path, { key: mine })).body.name).toBe('Mine')
  })

  test('of a bound key counts only tasks of its project', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    for (const { inbox } of [mine, theirs]) await service.given.task(inbox)
    const key = await service.given.key({ projectId: mine.id })

    expect((await service.post(PATH, { name: 'All', query: {} }, { key })).body.count).toBe(1)
    const refused = await service.post(PATH, { name: 'All', query: { projectId: theirs.id } }, { key })
    expect(refused).toMatchObject({ status: 404, body: { code: 'project_not_found' } })
  })

  test('counts snoozed tasks only if it looks for them, as the dashboard lists them', async () => {
    const { id: projectId, inbox } = await service.given.project()
    await service.given.task(inbox, { title: 'Crash now' })
    const snoozedUntil = new Date(Date.now() + 3_600_000)
    await service.given.task(inbox, { title: 'Crash later', snoozedUntil })
    const countOf = async (query: object) =>
      (await service.post(PATH, { name: 'Some', query: { projectId, ...query } })).body.count

    expect(await countOf({})).toBe(1)
    expect(await countOf({ snoozed: true })).toBe(1)
    expect(await countOf({ q: 'crash' })).toBe(2)
  })

  test('counts up to 1,000', async () => {
    const { id: projectId, inbox } = await service.given.project()
    await service.given.tasks(inbox, 1_001)

    expect((await service.post(PATH, { name: 'Many', query: { projectId } })).body.count).toBe(1_000)
  })

  test('keeps every filter', async () => {
    const key = await service.given.key()
    const { id: projectId, inbox } = await service.given.project()
    const query = {
      projectId,
      listId: inbox.id,
      status: ['open', 'done'],
      source: ['api'],
      priority: ['high'],
      kind: 'issue',
      label: ['none', 'a'],
      assignee: ['ada'],
      externalId: ['x'],
      q: 'two words',
      createdSince: '2026-01-01T00:00:00.000Z',
      updatedSince: '2026-01-01T00:00:00.000Z',
      openedSince: '2026-01-01T00:00:00.000Z',
      codehostIssueNumber: 1,
      codehostPrNumber: 2,
      includeArchived: true,
      sort: '-updatedAt',
    }

    const made = await service.post(PATH, { name: 'Everything', query }, { key })

    expect(made).toMatchObject({ status: 201, body: { query, count: 0 } })
    expect((await service.get(PATH, { key })).body.data).toEqual([made.body])
  })

  test.each([
    [{ name: '', query: {} }, '/name'],
    [{ name: 'x'.repeat(201), query: {} }, '/name'],
    [{ name: 'A' }, '/query'],
    [{ name: 'A', query: { status: 'open' } }, '/query/status'],
    [{ name: 'A', query: { status: ['closed'] } }, '/query/status/0'],
    [{ name: 'A', query: { cursor: 'x' } }, '/query/cursor'],
    [{ name: 'A', query: [] }, '/query'],
    [{ name: 'A', query: {}, keyId: UNKNOWN_ID }, '/keyId'],
  ])('%j is rejected', async (body, path) => {
    expect(await service.post(PATH, body)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('has a name of at most 100 characters', async () => {
    const save = (length: number) =>
      service.post('/api/saved-filters', { name: 'x'.repeat(length), query: {} })
    expect((await save(100)).status).toBe(201)
    expect(codeOf(await save(101))).toEqual([400, 'validation_failed'])
  })

  test('of an unknown project or list is 404', async () => {
    for (const name of ['project', 'list']) {
      const refused = await service.post(PATH, { name: 'A', query: { [`${name}Id`]: UNKNOWN_ID } })
      expect(refused).toMatchObject({ status: 404, body: { code: `${name}_not_found` } })
    }
  })

  test('is one of at most 50 of a key, also when requests race', async () => {
    const key = await service.given.key()

    const responses = await times(60, (n) => service.post(PATH, { name: `${n}`, query: {} }, { key }))

    expect(tally(responses)).toEqual({ 201: 50, 409: 10 })
    expect(responses.find(({ status }) => status === 409)?.body.code).toBe('too_many_saved_filters')
    const first = await service.get(`${PATH}?limit=30`, { key })
    const rest = await service.get(`${PATH}?limit=30&cursor=${first.body.nextCursor}`, { key })
    expect([first.body.data.length, rest.body.data.length, rest.body.nextCursor]).toEqual([30, 20, null])
  })

  test('is created once for an Idempotency-Key', async () => {
    const key = await service.given.key()
    const options = { key, headers: { 'idempotency-key': 'once' } }

    const first = await service.post(PATH, { name: 'A', query: {} }, options)
    const second = await service.post(PATH, { name: 'A', query: {} }, options)

    expect(second.body).toEqual(first.body)
    expect((await service.get(PATH, { key })).body.data).toHaveLength(1)
  })

  test('needs tasks:read', async () => {
    const key = await service.given.key({ scopes: ['tasks:write'] })

    expect((await service.get(PATH, { key })).body).toMatchObject({ requiredScope: 'tasks:read' })
  })
})
