import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

describe('a new project', () => {
  test('has its default list', async () => {
    const made = await service.post('/api/projects', { name: ' Mobile app ' })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Mobile app',
      archivedAt: null,
      groupFeedback: 'suggest',
      triage: 'on',
      openCount: 0,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: made.body.createdAt,
      codehost: null,
    })
    expect(made.headers.get('location')).toBe(`/api/projects/${made.body.id}`)
    expect((await service.get(`/api/projects/${made.body.id}`)).body).toEqual(made.body)
    const lists = await service.get(`/api/projects/${made.body.id}/lists`)
    expect(lists.body).toEqual({
      data: [expect.objectContaining({ name: 'Inbox', isDefault: true, position: 0, openCount: 0 })],
      nextCursor: null,
    })
  })

  test.each([
    [{}, '/name', 'required'],
    [{ name: '' }, '/name', 'too_short'],
    [{ name: ' \t ' }, '/name', 'too_short'],
    [{ name: 'x'.repeat(101) }, '/name', 'too_long'],
    [{ name: 5 }, '/name', 'wrong_type'],
    [{ name: null }, '/name', 'wrong_type'],
    [{ name: 'a\u0000b' }, '/name', 'invalid_text'],
    [{ name: 'A', isDefault: true }, '/isDefault', 'unknown_field'],
    [{ name: 'A', archivedAt: null }, '/archivedAt', 'unknown_field'],
  ])('is rejected as %j', async (body, path, code) => {
    const refused = await service.post('/api/projects', body)

    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(refused.body.errors).toEqual([expect.objectContaining({ path, code })])
  })

  test('may have a name of a hundred code points that another has, too', async () => {
    const name = '👩'.repeat(100)

    expect((await service.post('/api/projects', { name })).status).toBe(201)
    expect((await service.post('/api/projects', { name })).body).toMatchObject({ name })
  })
})

describe('projects', () => {
  test('are listed oldest first, page by page, each once', async () => {
    const made = []
    for (let n = 0; n < 5; n++) made.push((await service.post('/api/projects', { name: `P${n}` })).body.id)

    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { body: { data: { id: string }[]; nextCursor: string | null } } = await service.get(
        `/api/projects?limit=2${cursor && `&cursor=${cursor}`}`,
      )
      seen.push(...page.body.data.map(({ id }) => id))
      cursor = page.body.nextCursor
    }

    expect(seen).toEqual([...new Set(seen)].toSorted())
    expect(seen.slice(-5)).toEqual(made)
  })

  test('are filtered by whether they are archived', async () => {
    const [used, archived] = [await service.given.project(), await service.given.project()]
    await service.post(`/api/projects/${archived.id}/archive`)

    const ids = async (query: string) =>
      (await service.get(`/api/projects?limit=200${query}`)).body.data.map(({ id }: { id: string }) => id)

    expect(await ids('')).toEqual(expect.arrayContaining([used.id, archived.id]))
    expect(await ids('&archived=true')).toContain(archived.id)
    expect(await ids('&archived=true')).not.toContain(used.id)
    expect(await ids('&archived=false')).toContain(used.id)
    expect(await ids('&archived=false')).not.toContain(archived.id)
  })

  test.each([
    ['?limit=0', 'query.limit'],
    ['?limit=201', 'query.limit'],
    ['?archived=maybe', 'query.archived'],
    ['?nope=1', 'query.nope'],
    ['?cursor=', 'query.cursor'],
  ])('are not listed for %s', async (query, path) => {
    const refused = await service.get(`/api/projects${query}`)

    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('reject the cursor of another list', async () => {
    const tasks = Buffer.from(JSON.stringify(['createdAt', null, UNKNOWN_ID])).toString('base64url')

    for (const cursor of [tasks, 'x', '%7B%7D', 'W10']) {
      const refused = await service.get(`/api/projects?cursor=${cursor}`)
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
  })

  test('count their open tasks over all lists', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    for (const { id } of [list, list, project.inbox]) {
      await service.post('/api/tasks', { title: 'A task', listId: id })
    }
    const done = await service.post('/api/tasks', { title: 'A task', listId: list.id })
    await service.patch(`/api/tasks/${done.body.id}`, { status: 'done' })

    expect((await service.get(`/api/projects/${project.id}`)).body.openCount).toBe(3)
    const listed = (await service.get('/api/projects?limit=200')).body.data
    expect(listed.find(({ id }: { id: string }) => id === project.id).openCount).toBe(3)
  })
})

describe('a project', () => {
  test.each(['off', 'auto', 'suggest'])(
    'can be created and updated with groupFeedback %s',
    async (groupFeedback) => {
      const made = await service.post('/api/projects', { name: 'Grouped', groupFeedback })
      expect(made).toMatchObject({ status: 201, body: { groupFeedback } })
      const project = await service.given.project({ groupFeedback: groupFeedback === 'off' ? 'auto' : 'off' })
      const updated = await service.patch(`/api/projects/${project.id}`, { groupFeedback })
      expect(updated).toMatchObject({ status: 200, body: { groupFeedback, name: project.name } })
      for (const refused of ['on', null, true])
        expect(
          (await service.patch(`/api/projects/${project.id}`, { groupFeedback: refused })).body.code,
        ).toBe('validation_failed')
    },
  )

  test('that does not exist is 404 on every route', async () => {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'New' }],
      ['DELETE', '', undefined],
      ['POST', '/archive', undefined],
      ['POST', '/unarchive', undefined],
      ['GET', '/lists', undefined],
      ['POST', '/lists', { name: 'New' }],
    ] as const) {
      const response = await service.call(method, `/api/projects/${UNKNOWN_ID}${path}`, { body })
      expect([method, path, response.status, response.body.code]).toEqual([
        method,
        path,
        404,
        'project_not_found',
      ])
    }
  })

  test('whose id is not a UUID is a 400', async () => {
    const refused = await service.get('/api/projects/inbox')

    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'path.id' }] } })
  })

  test('can be renamed; its present name changes nothing', async () => {
    const { body: project } = await service.post('/api/projects', { name: 'Old' })

    const renamed = await service.patch(`/api/projects/${project.id}`, { name: 'New' })
    const again = await service.patch(`/api/projects/${project.id}`, { name: 'New' })
    const nothing = await service.patch(`/api/projects/${project.id}`, {})

    expect(renamed).toMatchObject({ status: 200, body: { id: project.id, name: 'New' } })
    expect(renamed.body.updatedAt >= project.updatedAt).toBe(true)
    expect(again.body).toEqual(renamed.body)
    expect(nothing.body).toEqual(renamed.body)
  })

  test('accepts its id in any case', async () => {
    const { id } = await service.given.project()

    const made = await service.post(`/api/projects/${id.toUpperCase()}/lists`, {
      name: 'A list',
      position: 0,
    })

    expect(made).toMatchObject({ status: 201, body: { projectId: id, position: 0 } })
  })
})

describe('a key that is bound to a project', () => {
  test('sees that project only', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })

    expect((await service.get('/api/projects', { key })).body).toEqual({
      data: [expect.objectContaining({ id: mine.id })],
      nextCursor: null,
    })
    expect((await service.get(`/api/projects/${mine.id}`, { key })).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine now' }],
      ['POST', '/archive', undefined],
      ['POST', '/unarchive', undefined],
      ['DELETE', '', undefined],
      ['GET', '/lists', undefined],
      ['POST', '/lists', { name: 'Mine now' }],
    ] as const) {
      const response = await service.call(method, `/api/projects/${theirs.id}${path}`, { key, body })
      expect([method, path, response.status, response.body.code]).toEqual([
        method,
        path,
        404,
        'project_not_found',
      ])
    }
  })

  test('cannot create projects, but renames and archives its own', async () => {
    const mine = await service.given.project()
    const key = await service.given.key({ projectId: mine.id })

    const refused = await service.post('/api/projects', '{"broken', {
      key,
      headers: { 'content-type': 'application/json' },
    })
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', requiredScope: 'admin' },
    })
    const path = `/api/projects/${mine.id}`
    expect((await service.patch(path, { name: 'New' }, { key })).status).toBe(200)
    expect((await service.post(`${path}/archive`, undefined, { key })).status).toBe(200)
    expect((await service.post(`${path}/unarchive`, undefined, { key })).status).toBe(200)
  })

  test('without admin only reads projects, and writes lists', async () => {
    const mine = await service.given.project()
    const key = await service.given.key({ projectId: mine.id, scopes: ['tasks:read', 'tasks:write'] })
    const path = `/api/projects/${mine.id}`

    expect((await service.get(path, { key })).status).toBe(200)
    expect((await service.patch(path, { name: 'New' }, { key })).status).toBe(403)
    expect((await service.delete(path, { key })).status).toBe(403)
    expect((await service.post(`${path}/lists`, { name: 'New' }, { key })).status).toBe(201)
  })
})
