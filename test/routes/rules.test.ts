import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Scope } from '../../src/schemas/caller.ts'
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

  test('has the rules of a project only when it is named', async () => {
    const [here, there] = [await service.given.project(), await service.given.project()]
    const everywhere = await create({ content: 'Global', priority: 1 })
    const mine = await create({ content: 'Here', projectId: here.id, priority: 2 })
    await create({ content: 'There', projectId: there.id })

    expect(idsOf(await service.get('/api/rules'))).toEqual([everywhere.id])
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

describe('a change of a rule', () => {
  test('is a new version; a change of nothing is not', async () => {
    const rule = await create({ content: 'A', priority: 1 })

    const changed = await service.patch(`/api/rules/${rule.id}`, { content: 'B', isActive: false })
    const same = await service.patch(`/api/rules/${rule.id}`, {
      content: ' B ',
      priority: 1,
      isActive: false,
    })

    expect(changed.headers.get('etag')).toBe('"2"')
    expect(changed.body).toMatchObject({ content: 'B', isActive: false, priority: 1, version: 2 })
    expect(same.body).toEqual(changed.body)
    expect((await service.patch(`/api/rules/${rule.id}`, {})).body.version).toBe(2)
  })

  test('is rejected when the rule has another version', async () => {
    const rule = await create({ content: 'A' })
    await service.patch(`/api/rules/${rule.id}`, { content: 'B' })

    const stale = { headers: { 'if-match': '"1"' } }
    for (const response of [
      await service.patch(`/api/rules/${rule.id}`, { content: 'C' }, stale),
      await service.delete(`/api/rules/${rule.id}`, stale),
      await service.post(`/api/rules/${rule.id}/revert`, { version: 1 }, stale),
    ]) {
      expect(response).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
      expect(response.body.detail).toContain('The rule has changed')
    }
    expect(
      (await service.patch(`/api/rules/${rule.id}`, { content: 'C' }, { headers: { 'if-match': '"2"' } }))
        .status,
    ).toBe(200)
  })

  test('can be reverted, which is a new version as well', async () => {
    const rule = await create({ content: 'A', priority: 1 })
    await service.patch(`/api/rules/${rule.id}`, { content: 'B', priority: 2 })
    await service.patch(`/api/rules/${rule.id}`, { isActive: false })

    const reverted = await service.post(`/api/rules/${rule.id}/revert`, { version: 1 })

    expect(reverted).toMatchObject({
      status: 200,
      body: { content: 'A', priority: 1, isActive: true, version: 4 },
    })
    expect(await service.post(`/api/rules/${rule.id}/revert`, { version: 99 })).toMatchObject({
      status: 404,
      body: { code: 'rule_version_not_found' },
    })
    const versions = await service.get(`/api/rules/${rule.id}/versions`)
    expect(versions.body.data).toMatchObject([
      { version: 4, content: 'A', priority: 1, isActive: true, createdBy: { type: 'key' } },
      { version: 3, content: 'B', priority: 2, isActive: false },
      { version: 2, content: 'B', priority: 2, isActive: true },
      { version: 1, content: 'A', priority: 1, isActive: true },
    ])
  })

  test('is in a history that is read page by page', async () => {
    const rule = await create({ content: '1' })
    for (const content of ['2', '3', '4', '5']) await service.patch(`/api/rules/${rule.id}`, { content })

    const seen: number[] = []
    for (let cursor = ''; ; ) {
      const page = (await service.get(`/api/rules/${rule.id}/versions?limit=2${cursor}`)).body
      seen.push(...page.data.map(({ version }: { version: number }) => version))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }

    expect(seen).toEqual([5, 4, 3, 2, 1])
    expect(await service.get(`/api/rules/${rule.id}/versions?cursor=x`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    })
  })

  test('is recorded, its content without the text', async () => {
    const rule = await create({ content: 'secret one' })
    await service.patch(`/api/rules/${rule.id}`, { content: 'secret two', priority: 3, isActive: false })
    await service.delete(`/api/rules/${rule.id}`)

    const activities = await service.query(
      `select type, metadata, actor_type from activity where metadata->>'ruleId' = $1 order by id`,
      [rule.id],
    )
    expect(activities).toEqual([
      { type: 'rule.created', metadata: { ruleId: rule.id }, actor_type: 'key' },
      {
        type: 'rule.updated',
        metadata: { ruleId: rule.id, changes: { content: 'changed', priority: { from: 0, to: 3 } } },
        actor_type: 'key',
      },
      { type: 'rule.disabled', metadata: { ruleId: rule.id }, actor_type: 'key' },
      { type: 'rule.deleted', metadata: { ruleId: rule.id }, actor_type: 'key' },
    ])
    expect(await service.delete(`/api/rules/${rule.id}`)).toMatchObject({ status: 404 })
  })

  test('that races with others loses none of them', async () => {
    const rule = await create({ content: 'A' })

    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => service.patch(`/api/rules/${rule.id}`, { content: `${n}` })),
    )

    expect(responses.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    )
  })
})

describe('a deleted rule', () => {
  test('is listed nowhere, and is restored as it was, with its history', async () => {
    const { get, post, patch } = service
    const rule = (await post('/api/rules', { content: 'First.', priority: 2 })).body
    await patch(`/api/rules/${rule.id}`, { content: 'Second.' })
    const [before, history] = [
      await get(`/api/rules/${rule.id}`),
      await get(`/api/rules/${rule.id}/versions`),
    ]
    const etag = (await get('/api/rules')).headers.get('etag')
    expect((await service.delete(`/api/rules/${rule.id}`)).status).toBe(204)
    const refused = await Promise.all([
      get(`/api/rules/${rule.id}`),
      get(`/api/rules/${rule.id}/versions`),
      patch(`/api/rules/${rule.id}`, { priority: 1 }),
      post(`/api/rules/${rule.id}/revert`, { version: 1 }),
      service.delete(`/api/rules/${rule.id}`),
    ])
    expect(refused.map(({ body }) => body.code)).toEqual(Array(5).fill('rule_not_found'))
    expect((await get('/api/rules?includeInactive=true')).body.data).not.toContainEqual(before.body)
    expect((await get('/api/context?format=markdown')).body).not.toContain('Second.')

    const restored = await Promise.all([
      post(`/api/rules/${rule.id}/restore`),
      post(`/api/rules/${rule.id}/restore`),
    ])
    for (const { status, body } of restored) expect([status, body]).toEqual([200, before.body])
    expect((await get(`/api/rules/${rule.id}`)).body).toEqual(before.body)
    expect((await get(`/api/rules/${rule.id}/versions`)).body).toEqual(history.body)
    expect((await get('/api/rules')).headers.get('etag')).toBe(etag)
    const written = (await get('/api/activity?type=rule.restored')).body.data
    expect(written.map(({ metadata }: { metadata: { ruleId: string } }) => metadata.ruleId)).toEqual([
      rule.id,
    ])
  })

  test('is restored as the last of its scope once, however often it is requested', async () => {
    const { body: rule } = await service.post('/api/rules', { content: 'The last.' })
    await service.delete(`/api/rules/${rule.id}`)
    await service.query(
      `insert into rules select gen_random_uuid(), 'A rule', 0, true, null, 1, now(), now(), 'key', null, 'test'
       from generate_series(1, 999)`,
    )
    const restore = () => service.post(`/api/rules/${rule.id}/restore`)
    const responses = await Promise.all(Array.from({ length: 6 }, restore))
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200))
    await service.delete(`/api/rules/${rule.id}`)
    expect((await service.post('/api/rules', { content: 'In its place.' })).status).toBe(201)
    expect((await restore()).body.code).toBe('too_many_rules')
  })

  test('is restored, changed and deleted concurrently without deadlocks', async () => {
    const project = await service.given.project()
    const { body: rule } = await service.post('/api/rules', { content: 'Contended.', projectId: project.id })
    const path = `/api/rules/${rule.id}`
    const all = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        [
          () => service.post(`${path}/restore`),
          () => service.patch(path, { priority: index }),
          () => service.delete(path),
        ][index % 3]?.(),
      ),
    )
    expect(all.filter((response) => ![200, 204, 404].includes(response?.status ?? 0))).toEqual([])
  })

  test('can be restored only within the reach of the key, and with the scope', async () => {
    const { post } = service
    const project = await service.given.project()
    const other = await service.given.project()
    const rule = (await post('/api/rules', { content: 'Bound.', projectId: project.id })).body
    const global = (await post('/api/rules', { content: 'Global.' })).body
    for (const { id } of [rule, global]) await service.delete(`/api/rules/${id}`)
    const restore = async (id: string, scopes: Scope[], projectId: string) => {
      const key = await service.given.key({ scopes, projectId })
      return (await post(`/api/rules/${id}/restore`, undefined, { key })).body.code
    }
    expect(await restore(rule.id, ['rules:write'], other.id)).toBe('rule_not_found')
    expect(await restore(rule.id, ['rules:read'], project.id)).toBe('insufficient_scope')
    expect(await restore(global.id, ['rules:write'], project.id)).toBe('insufficient_scope')
    await post(`/api/projects/${project.id}/archive`)
    expect((await post(`/api/rules/${rule.id}/restore`)).body.code).toBe('project_archived')
    await post(`/api/projects/${project.id}/unarchive`)
    expect((await post(`/api/rules/${rule.id}/restore`)).status).toBe(200)
  })

  test('does not block the deletion of its project, and is deleted permanently after 30 days', async () => {
    const { post } = service
    const project = (await post('/api/projects', { name: 'Left empty' })).body
    const { body: rule } = await post('/api/rules', { content: 'Hidden.', projectId: project.id })
    await service.delete(`/api/rules/${rule.id}`)
    const hide = (days: number) =>
      service.query(`update rules set deleted_at = now() - $2 * interval '1 day' where id = $1`, [
        rule.id,
        days,
      ])
    await hide(29.9)
    await service.service.cleanup.cleanUp()
    expect((await post(`/api/rules/${rule.id}/restore`)).status).toBe(200)
    await service.delete(`/api/rules/${rule.id}`)
    await hide(30.1)
    expect((await post(`/api/rules/${rule.id}/restore`)).body.code).toBe('rule_not_found')
    await service.service.cleanup.cleanUp()
    expect(await service.query('select from rule_versions where rule_id = $1', [rule.id])).toEqual([])

    const { body: last } = await post('/api/rules', { content: 'In the way?', projectId: project.id })
    await service.delete(`/api/rules/${last.id}`)
    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)
    expect((await post(`/api/rules/${last.id}/restore`)).body.code).toBe('rule_not_found')
  })
})

describe('the thousandth rule of a scope', () => {
  test.each(['global', 'project'])('is the last, also in concurrent requests: %s', async (scope) => {
    const projectId = scope === 'global' ? null : (await service.given.project()).id
    await service.query(
      `insert into rules select gen_random_uuid(), 'A rule', 0, n % 2 = 0, $1, 1, now(), now(), 'key', null, 'test'
       from generate_series(1, 995) n`,
      [projectId],
    )

    const responses = await Promise.all(
      Array.from({ length: 12 }, () => service.post('/api/rules', { content: 'One more', projectId })),
    )

    expect(responses.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(201),
      ...Array(7).fill(409),
    ])
    expect(responses.find(({ status }) => status === 409)?.body.code).toBe('too_many_rules')
    const other = scope === 'global' ? (await service.given.project()).id : null
    expect((await service.post('/api/rules', { content: 'Elsewhere', projectId: other })).status).toBe(201)
  })
})
