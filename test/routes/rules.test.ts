import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())
beforeEach(() => service.query('delete from rules'))

const create = async (body: object, key?: string) =>
  (await service.post('/api/rules', body, key ? { key } : {})).body
const idsOf = (response: { body: { data: { id: string }[] } }) => response.body.data.map(({ id }) => id)

describe('a rule', () => {
  test('requires only a content; it is active, global, of priority 0', async () => {
    const made = await service.post('/api/rules', { content: '  Run the tests.\n' })

    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/api/rules/${made.body.id}`)
    expect(made.headers.get('etag')).toBe('"1"')
    const me = (await service.get('/api/me')).body
    expect(made.body).toEqual({
      id: expect.any(String),
      content: 'Run the tests.',
      priority: 0,
      isActive: true,
      paths: [],
      projectId: null,
      version: 1,
      createdAt: expect.any(String),
      updatedAt: made.body.createdAt,
      updatedBy: { type: 'key', id: me.id, name: me.name },
    })
    expect((await service.get(`/api/rules/${made.body.id}`)).body).toEqual(made.body)
  })

  test('is created once for one Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'rule-1' } }

    const first = await service.post('/api/rules', { content: 'Once.' }, options)
    const second = await service.post('/api/rules', { content: 'Once.' }, options)

    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect((await service.get('/api/rules')).body.data).toHaveLength(1)
  })

  test.each([
    ['priority as text', { content: 'A', priority: '5' }, '/priority', 'wrong_type'],
    ['priority null', { content: 'A', priority: null }, '/priority', 'wrong_type'],
    ['content missing', {}, '/content', 'required'],
    ['content blank', { content: ' \n\t ' }, '/content', 'too_short'],
    ['content of 8,001 characters', { content: 'é'.repeat(8001) }, '/content', 'too_long'],
    ['content with NUL', { content: 'a\0b' }, '/content', 'invalid_text'],
    ['an unknown field', { content: 'A', nope: 1 }, '/nope', 'unknown_field'],
    ['isActive as text', { content: 'A', isActive: 'no' }, '/isActive', 'wrong_type'],
    ['a project that is no UUID', { content: 'A', projectId: 'x' }, '/projectId', 'wrong_format'],
  ])('is rejected with %s', async (_, body, path, code) => {
    const refused = await service.post('/api/rules', body)

    expect(refused.status).toBe(400)
    expect(refused.body.errors).toMatchObject([{ path, code }])
  })

  test.each(['1e400', '-1e400'])('is rejected with the priority %s, which is infinite', async (priority) => {
    const refused = await service.post('/api/rules', `{"content":"A","priority":${priority}}`)

    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/priority', code: 'wrong_type' }] },
    })
  })

  test.each(['NaN', 'Infinity'])('is rejected with the priority %s, which is not JSON', async (priority) => {
    const refused = await service.post('/api/rules', `{"content":"A","priority":${priority}}`)

    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
  })

  test('may have 8,000 characters, whatever their length in UTF-16', async () => {
    const made = await service.post('/api/rules', { content: '🦀'.repeat(8000) })

    expect(made.status).toBe(201)
  })

  test('that does not exist is 404', async () => {
    for (const response of [
      await service.get(`/api/rules/${UNKNOWN_ID}`),
      await service.patch(`/api/rules/${UNKNOWN_ID}`, { isActive: false }),
      await service.delete(`/api/rules/${UNKNOWN_ID}`),
      await service.get(`/api/rules/${UNKNOWN_ID}/versions`),
      await service.post(`/api/rules/${UNKNOWN_ID}/revert`, { version: 1 }),
    ]) {
      expect(response).toMatchObject({ status: 404, body: { code: 'rule_not_found' } })
    }
    expect(await service.get('/api/rules/x')).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'path.id' }] },
    })
  })

  test('of an unknown project is 404', async () => {
    const refused = await service.post('/api/rules', { content: 'A', projectId: UNKNOWN_ID })

    expect(refused).toMatchObject({ status: 404, body: { code: 'project_not_found' } })
  })

  test('of an archived project can be read, not written', async () => {
    const project = await service.given.project()
    const rule = await create({ content: 'A', projectId: project.id })
    await service.query('update projects set archived_at = now() where id = $1', [project.id])

    expect((await service.get(`/api/rules?projectId=${project.id}`)).body.data).toHaveLength(1)
    for (const response of [
      await service.post('/api/rules', { content: 'A', projectId: project.id }),
      await service.patch(`/api/rules/${rule.id}`, { priority: 1 }),
      await service.delete(`/api/rules/${rule.id}`),
    ]) {
      expect(response).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    }
  })
})

describe('the list of rules', () => {
  test('is ordered by priority, then creation, then id', async () => {
    const priorities = [
      0,
      -0,
      1e308,
      -1e308,
      0.1,
      0.30000000000000004,
      0.3,
      5e-324,
      0,
      2 ** 53,
      2 ** 53 + 2,
      -1,
    ]
    const made = []
    for (const priority of priorities) made.push(await create({ content: `${priority}`, priority }))
    // Some have the same time: then the ids decide.
    await service.query(`update rules set created_at = '2026-01-01' where priority = 0`)

    const listed = await service.get('/api/rules')

    const expected = made.toSorted((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
    expect(idsOf(listed)).toEqual(expected.map(({ id }) => id))
    expect(listed.body.data.map(({ priority }: { priority: number }) => priority)).toEqual(
      expected.map(({ priority }) => priority),
    )
    expect(listed.body.nextCursor).toBeNull()
  })

  test('has only active ones unless all are requested', async () => {
    const [on, off] = [await create({ content: 'On' }), await create({ content: 'Off', isActive: false })]

    expect(idsOf(await service.get('/api/rules'))).toEqual([on.id])
    expect(idsOf(await service.get('/api/rules?includeInactive=true'))).toEqual([on.id, off.id])
    expect((await service.get('/api/rules?nope=1')).body.errors).toMatchObject([{ path: 'query.nope' }])
  })

  test('has the rules of every project in one order, or those that apply to one', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    const everywhere = await create({ content: 'Global', priority: 1 })
    const mine = await create({ content: 'Here', projectId: here.id, priority: 2 })
    const theirs = await create({ content: 'There', projectId: there.id })

    expect(idsOf(await service.get('/api/rules'))).toEqual([mine.id, everywhere.id, theirs.id])
    expect(idsOf(await service.get(`/api/rules?projectId=${here.id}`))).toEqual([mine.id, everywhere.id])
    expect(await service.get(`/api/rules?projectId=${UNKNOWN_ID}`)).toMatchObject({
      status: 404,
      body: { code: 'project_not_found' },
    })
  })

  test('has an ETag that changes with it, and 304 until then', async () => {
    const rule = await create({ content: 'A' })
    const first = await service.get('/api/rules')
    const etag = first.headers.get('etag') ?? ''

    const unchanged = await service.get('/api/rules', { headers: { 'if-none-match': `"other", W/${etag}` } })
    expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).toEqual([304, '', etag])

    await service.patch(`/api/rules/${rule.id}`, { priority: 1 })
    const changed = await service.get('/api/rules', { headers: { 'if-none-match': etag } })
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(etag)
  })
})

describe('a key that is bound to a project', () => {
  test('sees the global rules and those of its project, and creates rules there', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id, scopes: ['rules:read', 'rules:write'] })
    const everywhere = await create({ content: 'Global' })
    const other = await create({ content: 'Theirs', projectId: theirs.id })

    const made = await create({ content: 'Mine', priority: 1 }, key)

    expect(made.projectId).toBe(mine.id)
    expect(idsOf(await service.get('/api/rules', { key }))).toEqual([made.id, everywhere.id])
    expect((await service.get(`/api/rules/${everywhere.id}`, { key })).status).toBe(200)
    for (const response of [
      await service.get(`/api/rules/${other.id}`, { key }),
      await service.patch(`/api/rules/${other.id}`, { isActive: false }, { key }),
      await service.delete(`/api/rules/${other.id}`, { key }),
      await service.get(`/api/rules/${other.id}/versions`, { key }),
      await service.post(`/api/rules/${other.id}/revert`, { version: 1 }, { key }),
    ]) {
      expect(response).toMatchObject({ status: 404, body: { code: 'rule_not_found' } })
    }
    expect((await service.get(`/api/rules?projectId=${theirs.id}`, { key })).status).toBe(404)
    expect((await service.post('/api/rules', { content: 'A', projectId: theirs.id }, { key })).status).toBe(
      404,
    )
  })

  test('cannot change a global rule, whatever its scopes', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ projectId: project.id, scopes: ['admin'] })
    const rule = await create({ content: 'Global' })

    for (const response of [
      await service.post('/api/rules', { content: 'A', projectId: null }, { key }),
      await service.patch(`/api/rules/${rule.id}`, { isActive: false }, { key }),
      await service.delete(`/api/rules/${rule.id}`, { key }),
      await service.post(`/api/rules/${rule.id}/revert`, { version: 1 }, { key }),
    ]) {
      expect(response).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope', requiredScope: 'rules:write' },
      })
    }
  })
})
