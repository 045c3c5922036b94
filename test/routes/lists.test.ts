import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'
import { namesInOrder } from '../support/positions.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

const newList = async (projectId: string, body: object = { name: 'A list' }) =>
  (await service.post(`/api/projects/${projectId}/lists`, body)).body

const orderOf = async (projectId: string) =>
  namesInOrder((await service.get(`/api/projects/${projectId}/lists?limit=200`)).body.data)

describe('the lists of all projects', () => {
  const all = async (query = '', key?: string) =>
    (await service.get(`/api/lists?limit=200${query}`, key === undefined ? {} : { key })).body.data

  test('are those of projects that are not archived, page by page', async () => {
    const [one, other, archived] = [
      await service.given.project(),
      await service.given.project(),
      await service.given.project(),
    ]
    const [first, second] = [await newList(one.id), await newList(other.id)]
    await service.post(`/api/projects/${archived.id}/archive`)

    const data = await all()

    expect(data).toContainEqual(first)
    expect(data).toContainEqual(second)
    expect(data.filter(({ projectId }: { projectId: string }) => projectId === archived.id)).toEqual([])
    const paged: unknown[] = []
    for (let cursor = ''; ; ) {
      const { body } = await service.get(`/api/lists?limit=1${cursor}`)
      paged.push(...body.data)
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    expect(paged).toEqual(data)
  })

  test('are those of one project for a key of it', async () => {
    const [own] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ name: 'bound', scopes: ['tasks:read'], projectId: own.id })
    const data = await all('', key)
    expect(data.map(({ projectId }: { projectId: string }) => projectId)).toEqual([own.id])
  })
})

describe('a new list', () => {
  test('is last, empty, and not the default', async () => {
    const project = await service.given.project()

    const made = await service.post(`/api/projects/${project.id}/lists`, { name: ' Next release ' })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      projectId: project.id,
      name: 'Next release',
      position: 1,
      isDefault: false,
      openCount: 0,
      createdAt: expect.stringMatching(TIMESTAMP),
    })
    expect(made.headers.get('location')).toBe(`/api/lists/${made.body.id}`)
    expect((await service.get(`/api/lists/${made.body.id}`)).body).toEqual(made.body)
  })

  test('can be created at a position; past the end is the end', async () => {
    const project = await service.given.project()

    await newList(project.id, { name: 'last', position: 1_000_000 })
    await newList(project.id, { name: 'first', position: 0 })
    await newList(project.id, { name: 'third', position: 2 })

    expect(await orderOf(project.id)).toEqual(['first', 'Inbox', 'third', 'last'])
  })

  test.each([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(101) }, '/name'],
    [{ name: ['A'] }, '/name'],
    [{ name: 'A', position: -1 }, '/position'],
    [{ name: 'A', position: 1.5 }, '/position'],
    [{ name: 'A', position: '1' }, '/position'],
    [{ name: 'A', position: 1e300 }, '/position'],
    [{ name: 'A', projectId: UNKNOWN_ID }, '/projectId'],
    [{ name: 'A', isDefault: true }, '/isDefault'],
  ])('is rejected as %j', async (body, path) => {
    const project = await service.given.project()

    const refused = await service.post(`/api/projects/${project.id}/lists`, body)

    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ path }] } })
  })
})

describe('lists', () => {
  test('are listed by position, page by page', async () => {
    const project = await service.given.project()
    for (const name of ['d', 'c', 'b', 'a']) await newList(project.id, { name, position: 0 })

    const pages: string[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { body: { data: { name: string }[]; nextCursor: string | null } } = await service.get(
        `/api/projects/${project.id}/lists?limit=2${cursor && `&cursor=${cursor}`}`,
      )
      pages.push(page.body.data.map(({ name }) => name))
      cursor = page.body.nextCursor
    }

    expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['Inbox']])
  })

  test('reject the cursor of another list', async () => {
    const project = await service.given.project()
    const invalid = [
      ['lists', null, UNKNOWN_ID],
      ['lists', -1, UNKNOWN_ID],
      ['lists', 2 ** 31, UNKNOWN_ID],
      ['projects', null, UNKNOWN_ID],
      ['lists', 1, 'x'],
    ]

    for (const parts of invalid) {
      const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
      const refused = await service.get(`/api/projects/${project.id}/lists?cursor=${cursor}`)
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    }
  })
})

describe('a list', () => {
  test('can be renamed and moved, the default one too', async () => {
    const project = await service.given.project()
    for (const name of ['a', 'b', 'c']) await newList(project.id, { name })
    const { inbox } = project

    const renamed = await service.patch(`/api/lists/${inbox.id}`, { name: 'In' })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'In', position: 0, isDefault: true } })
    const moved = await service.patch(`/api/lists/${inbox.id}`, { position: 2 })
    expect(moved).toMatchObject({ status: 200, body: { name: 'In', position: 2 } })
    expect(await orderOf(project.id)).toEqual(['a', 'b', 'In', 'c'])
    const both = await service.patch(`/api/lists/${inbox.id}`, { name: 'Last', position: 99 })
    expect(both.body).toMatchObject({ name: 'Last', position: 3 })
    const nothing = await service.patch(`/api/lists/${inbox.id}`, {})
    expect(nothing).toMatchObject({ status: 200, body: both.body })
  })

  test('accepts its id in any case', async () => {
    const project = await service.given.project()
    const list = await newList(project.id)

    const moved = await service.patch(`/api/lists/${list.id.toUpperCase()}`, { position: 0 })
    expect(moved.body).toMatchObject({ id: list.id, position: 0 })
    const itself = await service.delete(`/api/lists/${list.id}?moveTo=${list.id.toUpperCase()}`)
    expect(itself.status).toBe(400)
    const gone = await service.delete(
      `/api/lists/${list.id.toUpperCase()}?moveTo=${project.inbox.id.toUpperCase()}`,
    )
    expect(gone.status).toBe(204)
  })

  test.each([
    [{ name: '' }, '/name'],
    [{ position: null }, '/position'],
    [{ position: -1 }, '/position'],
    [{ openCount: 0 }, '/openCount'],
    [{ projectId: UNKNOWN_ID }, '/projectId'],
  ])('is not changed by %j', async (body, path) => {
    const { inbox } = await service.given.project()

    const refused = await service.patch(`/api/lists/${inbox.id}`, body)

    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('that does not exist is 404', async () => {
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'New' }],
      ['DELETE', undefined],
    ] as const) {
      const response = await service.call(method, `/api/lists/${UNKNOWN_ID}`, { body })
      expect(response).toMatchObject({ status: 404, body: { code: 'list_not_found' } })
    }
  })

  test('of another project does not exist for a key bound to one', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })
    const list = await newList(mine.id)

    for (const [method, path, body] of [
      ['GET', `/api/lists/${theirs.inbox.id}`, undefined],
      ['PATCH', `/api/lists/${theirs.inbox.id}`, { name: 'Mine now' }],
      ['DELETE', `/api/lists/${theirs.inbox.id}`, undefined],
      ['DELETE', `/api/lists/${list.id}?moveTo=${theirs.inbox.id}`, undefined],
    ] as const) {
      const response = await service.call(method, path, { key, body })
      expect([method, path, response.status, response.body.code]).toEqual([
        method,
        path,
        404,
        'list_not_found',
      ])
    }
    expect((await service.get(`/api/lists/${list.id}`, { key })).status).toBe(200)
  })

  test('is written with tasks:write and read with tasks:read', async () => {
    const { inbox } = await service.given.project()
    const reader = await service.given.key({ scopes: ['tasks:read'] })
    const writer = await service.given.key({ scopes: ['tasks:write'] })

    expect((await service.get(`/api/lists/${inbox.id}`, { key: reader })).status).toBe(200)
    expect((await service.get(`/api/lists/${inbox.id}`, { key: writer })).status).toBe(403)
    expect((await service.patch(`/api/lists/${inbox.id}`, { name: 'A' }, { key: reader })).status).toBe(403)
    expect((await service.patch(`/api/lists/${inbox.id}`, { name: 'A' }, { key: writer })).status).toBe(200)
  })
})

describe('the order of lists', () => {
  test('has no gaps when lists are created, moved and deleted at once', async () => {
    const project = await service.given.project()
    const lists = await Promise.all(
      Array.from({ length: 8 }, (_, n) => newList(project.id, { name: `L${n}` })),
    )
    expect(await orderOf(project.id)).toHaveLength(9)

    const responses = await Promise.all([
      ...lists.map(({ id }, n) => service.patch(`/api/lists/${id}`, { position: (n * 5) % 9 })),
      ...lists.slice(0, 3).map(({ id }) => service.delete(`/api/lists/${id}`)),
      ...lists.map((_, n) =>
        service.post(`/api/projects/${project.id}/lists`, { name: `N${n}`, position: 1 }),
      ),
    ])

    expect(responses.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
    expect(await orderOf(project.id)).toHaveLength(9 - 3 + 8)
  })

  test('is repaired when positions occur twice', async () => {
    const project = await service.given.project()
    for (const name of ['a', 'b', 'c']) await service.given.list(project.id, { name, position: 1 })

    await newList(project.id, { name: 'd' })

    expect(await orderOf(project.id)).toEqual(['Inbox', 'a', 'b', 'c', 'd'])
  })
})
