import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_PER_MINUTE: '0' } })
})
afterAll(() => service.close())

const newList = async (projectId: string, body: object = { name: 'A list' }) =>
  (await service.post(`/api/projects/${projectId}/lists`, body)).body

const newTask = async (listId: string) => (await service.post('/api/tasks', { title: 'A task', listId })).body

/** The names of a project's lists in order; their positions have to be 0, 1, 2, ... */
async function orderOf(projectId: string): Promise<string[]> {
  const { data } = (await service.get(`/api/projects/${projectId}/lists?limit=200`)).body
  expect(data.map(({ position }: { position: number }) => position)).toEqual([...data.keys()])
  return data.map(({ name }: { name: string }) => name)
}

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

describe('deleting a list', () => {
  test('that is empty closes the gap', async () => {
    const project = await service.given.project()
    const [a] = [await newList(project.id, { name: 'a' }), await newList(project.id, { name: 'b' })]

    expect((await service.delete(`/api/lists/${a.id}`)).status).toBe(204)

    expect((await service.get(`/api/lists/${a.id}`)).status).toBe(404)
    expect(await orderOf(project.id)).toEqual(['Inbox', 'b'])
  })

  test('that is the default is rejected, with moveTo or without', async () => {
    const project = await service.given.project()
    const list = await newList(project.id)

    for (const query of ['', `?moveTo=${list.id}`]) {
      const refused = await service.delete(`/api/lists/${project.inbox.id}${query}`)
      expect(refused).toMatchObject({ status: 409, body: { code: 'list_is_default' } })
    }
  })

  test('with tasks requires moveTo, done ones included', async () => {
    const project = await service.given.project()
    const list = await newList(project.id)
    const task = await newTask(list.id)
    await service.patch(`/api/tasks/${task.id}`, { status: 'done' })

    const refused = await service.delete(`/api/lists/${list.id}`)

    expect(refused).toMatchObject({ status: 409, body: { code: 'list_not_empty' } })
    expect(refused.body.detail).toContain('moveTo')
  })

  test('moves its tasks, each with a new version and an activity', async () => {
    const project = await service.given.project()
    const [from, to] = [await newList(project.id), await newList(project.id)]
    const tasks = [await newTask(from.id), await newTask(from.id)]
    const key = await service.given.key({ name: 'the mover' })

    expect((await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`, { key })).status).toBe(204)

    for (const task of tasks) {
      const { body } = await service.get(`/api/tasks/${task.id}`)
      expect(body).toMatchObject({ listId: to.id, version: task.version + 1, createdAt: task.createdAt })
      expect(body.updatedAt >= task.updatedAt).toBe(true)
      expect(
        await service.query("select * from activity where task_id = $1 and type = 'task.updated'", [task.id]),
      ).toEqual([
        expect.objectContaining({
          project_id: project.id,
          actor_name: 'the mover',
          metadata: { changes: { listId: { from: from.id, to: to.id } } },
          created_at: new Date(body.updatedAt),
        }),
      ])
    }
    expect((await service.get(`/api/lists/${to.id}`)).body.openCount).toBe(2)
  })

  test('moves thousands at once', async () => {
    const project = await service.given.project()
    const [from, to] = [await newList(project.id), await newList(project.id)]
    await service.query(
      `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
         created_by_type, created_by_name, created_at, updated_at, version)
       select gen_random_uuid(), 'A task', 'open', 2, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), 1
       from generate_series(1, 2500)`,
      [project.id, from.id],
    )

    for (let status = 202; status === 202; ) {
      status = (await service.delete(`/api/lists/${from.id}?moveTo=${to.id}`)).status
      expect([202, 204]).toContain(status)
    }

    expect((await service.get(`/api/lists/${to.id}`)).body.openCount).toBe(2500)
    const [{ count }] = await service.query(
      "select count(distinct task_id)::int from activity where project_id = $1 and type = 'task.updated'",
      [project.id],
    )
    expect(count).toBe(2500)
  })

  test.each(['to the list named', 'to the default list'])(
    'moves the tasks in its trash %s',
    async (destination) => {
      const project = await service.given.project()
      const [from, named] = [await newList(project.id), await newList(project.id)]
      const task = await newTask(from.id)
      await service.delete(`/api/tasks/${task.id}`)
      const [query, target] =
        destination === 'to the list named' ? [`?moveTo=${named.id}`, named] : ['', project.inbox]

      expect((await service.delete(`/api/lists/${from.id}${query}`)).status).toBe(204)

      const restored = await service.post(`/api/tasks/${task.id}/restore`)
      expect(restored).toMatchObject({ status: 200, body: { listId: target.id } })
      expect((await service.get(`/api/lists/${target.id}`)).body.openCount).toBe(1)
    },
  )

  test('rejects an invalid moveTo', async () => {
    const [project, other] = [await service.given.project(), await service.given.project()]
    const list = await newList(project.id)
    const task = await newTask(list.id)

    for (const [moveTo, status, code] of [
      ['inbox', 400, 'validation_failed'],
      ['', 400, 'validation_failed'],
      [list.id, 400, 'validation_failed'],
      [other.inbox.id, 400, 'validation_failed'],
      [UNKNOWN_ID, 404, 'list_not_found'],
    ]) {
      const refused = await service.delete(`/api/lists/${list.id}?moveTo=${moveTo}`)
      expect([moveTo, refused.status, refused.body.code]).toEqual([moveTo, status, code])
      if (status === 400) expect(refused.body.errors[0].path).toBe('query.moveTo')
    }
    expect((await service.get(`/api/tasks/${task.id}`)).body.listId).toBe(list.id)
  })

  test('that races with creates, deletions and restores loses no task, and is never a 500', async () => {
    for (let round = 0; round < 15; round++) {
      const project = await service.given.project()
      const [from, to] = [await newList(project.id), await newList(project.id)]
      const [moving, coming, hidden] = [await newTask(from.id), await newTask(to.id), await newTask(from.id)]
      await service.delete(`/api/tasks/${hidden.id}`)

      const responses = await Promise.all([
        service.delete(`/api/lists/${from.id}?moveTo=${to.id}`),
        service.post('/api/tasks', { title: 'A task', listId: from.id }),
        service.post('/api/tasks/bulk', { listId: from.id, tasks: [{ title: 'A' }, { title: 'B' }] }),
        service.patch(`/api/tasks/${moving.id}`, { listId: project.inbox.id }),
        service.patch(`/api/tasks/${coming.id}`, { listId: from.id }),
        service.post(`/api/tasks/${hidden.id}/restore`),
        service.delete(`/api/lists/${to.id}?moveTo=${from.id}`),
      ])

      expect(responses.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
      const made = (responses[1].status === 201 ? 1 : 0) + (responses[2].status === 201 ? 2 : 0)
      expect((await service.get(`/api/projects/${project.id}`)).body.openCount).toBe(3 + made)
      const shown = await service.get(`/api/tasks?projectId=${project.id}`)
      expect(shown.body.data).toHaveLength(3 + made)
    }
  })
})
