import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../support/app.ts'
import { locksOf } from '../support/locks.ts'
import { routesOf } from '../support/routes.ts'
import { signIn } from '../support/sign-in.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

let counter = 0
const newKey = () => `key-${++counter}`
const create = (body: object, key: string, options: { app?: TestApp; key?: string } = {}) =>
  (options.app ?? service).post('/api/tasks', body, {
    key: options.key ?? service.adminKey,
    headers: { 'idempotency-key': key },
  })
const titled = (title: string) => service.query('select id from tasks where title = $1', [title])

describe('a repeated request', () => {
  test('gets the first response and is executed once', async () => {
    const key = newKey()
    const first = await create({ title: 'once' }, key)
    const again = await create({ title: 'once' }, key)

    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    for (const name of ['location', 'etag', 'content-type']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(await titled('once')).toHaveLength(1)
  })

  test('with another body is rejected', async () => {
    const key = newKey()
    await create({ title: 'one' }, key)
    const response = await create({ title: 'another' }, key)
    expect([response.status, response.body.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('is the same one however the ids in its path are written', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'commented once' })
    const headers = { 'idempotency-key': newKey() }
    const paths = [task.id, task.id.toUpperCase(), task.id.replace('-', '%2D')]
    const ids = []
    for (const id of paths) {
      const { status, body } = await service.post(`/api/tasks/${id}/comments`, { body: 'Once.' }, { headers })
      expect(status).toBe(201)
      ids.push(body.id)
    }
    expect(new Set(ids).size).toBe(1)
    expect((await service.get(`/api/tasks/${task.id}/comments`)).body.data).toHaveLength(1)
  })

  test('waits while its expired key is removed, and says so if that takes too long', async () => {
    const key = newKey()
    await create({ title: 'expired' }, key)
    const expired = "update idempotency_keys set created_at = now() - interval '25 hours' where key = $1"
    await service.query(expired, [key])
    const lock = `delete from idempotency_keys where key = '${key}'`
    const release = await locksOf(service).acquire(lock)
    const refused = await create({ title: 'expired' }, key)
    expect(codeOf(refused)).toEqual([409, 'request_in_progress'])
    await release()
    expect((await create({ title: 'expired' }, key)).status).toBe(201)
    expect(await titled('expired')).toHaveLength(2)
  })

  test('is compared without the defaults of its query, which other versions may not have', async () => {
    const key = newKey()
    const headers = { 'idempotency-key': key }
    await create({ title: 'without defaults' }, key)
    const explicit = await service.post(
      '/api/tasks?onExisting=return',
      { title: 'without defaults' },
      { headers },
    )
    expect(codeOf(explicit)).toEqual([422, 'idempotency_key_reused'])
    const again = await create({ title: 'without defaults' }, key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  test('may be fixed after an error and sent again', async () => {
    const key = newKey()
    expect((await create({ title: '' }, key)).status).toBe(400)
    expect((await create({ title: 'x', listId: '00000000-0000-7000-8000-000000000000' }, key)).status).toBe(
      404,
    )
    expect((await create({ title: 'mended' }, key)).status).toBe(201)
  })

  test('may be fixed and sent again when nothing was created', async () => {
    const { inbox } = await service.given.project()
    const key = newKey()
    const bulk = (...titles: string[]) =>
      service.post(
        '/api/tasks/bulk?onError=continue',
        { listId: inbox.id, tasks: titles.map((title) => ({ title })) },
        { headers: { 'idempotency-key': key } },
      )
    expect((await bulk('', '')).body).toMatchObject({ created: 0, failed: 2 })
    expect((await bulk('')).headers.get('idempotency-replayed')).toBeNull()
    expect((await bulk('made', '')).body).toMatchObject({ created: 1, failed: 1 })
    const again = await bulk('made', '')
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([207, 'true'])
    expect((await bulk('made')).body.code).toBe('idempotency_key_reused')
    expect(await titled('made')).toHaveLength(1)
  })

  test('may be fixed and sent again when it only found an existing task', async () => {
    const key = newKey()
    await service.post('/api/tasks', { title: 'there', externalId: 'taken' })
    const found = await create({ title: 'x', externalId: 'taken' }, key)
    expect([found.status, found.body.title]).toEqual([200, 'there'])
    expect((await create({ title: 'x', externalId: 'free' }, key)).status).toBe(201)
  })

  test('of another caller, or to another route, is another request', async () => {
    const key = newKey()
    const otherKey = await service.given.key()
    await create({ title: 'mine' }, key)

    const theirs = await create({ title: 'theirs' }, key, { key: otherKey })
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([201, null])
    const project = await service.given.project()
    const bulk = await service.post(
      '/api/tasks/bulk',
      { listId: project.inbox.id, tasks: [{ title: 'in bulk' }] },
      { headers: { 'idempotency-key': key } },
    )
    expect([bulk.status, bulk.headers.get('idempotency-replayed')]).toEqual([201, null])
  })

  test('to the same route of another resource is another request', async () => {
    const headers = { 'idempotency-key': newKey() }
    const { inbox } = await service.given.project()
    const tasks = [await service.given.task(inbox), await service.given.task(inbox)]
    for (const { id } of tasks) {
      const made = await service.post(`/api/tasks/${id}/comments`, { body: 'Once each.' }, { headers })
      expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null])
    }
    for (const { id } of tasks) {
      const { body } = await service.get(`/api/tasks/${id}/comments`)
      expect(body.data).toMatchObject([{ body: 'Once each.' }])
    }
  })

  test('of a session is not that of its key, nor of another of its sessions', async () => {
    const key = newKey()
    const sessions = [await signIn(service, service.adminKey), await signIn(service, service.adminKey)]
    const callers = [{ key: service.adminKey, headers: {} }, ...sessions.map((session) => session.with)]
    for (const replayed of [null, 'true']) {
      for (const { headers, ...caller } of callers) {
        const options = { ...caller, headers: { ...headers, 'idempotency-key': key } }
        const { status, headers: sent } = await service.post('/api/tasks', { title: 'of three' }, options)
        expect([status, sent.get('idempotency-replayed')]).toEqual([201, replayed])
      }
    }
    expect(await titled('of three')).toHaveLength(3)
  })

  test('to two instances at once creates one task', async () => {
    const key = newKey()
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        create({ title: 'raced' }, key, { app: n % 2 ? second : service }),
      ),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1)
    expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(await titled('raced')).toHaveLength(1)
  })

  test('after a day is a new one', async () => {
    const key = newKey()
    await create({ title: 'old' }, key)
    await service.query(
      "update idempotency_keys set created_at = now() - interval '25 hours' where key = $1",
      [key],
    )
    const response = await create({ title: 'new' }, key)
    expect([response.status, response.body.title]).toEqual([201, 'new'])
  })

  test('waits for the first no longer than the lock timeout', async () => {
    const key = newKey()
    const client = await service.connect()
    await client.query('begin')
    const { body: me } = await service.get('/api/me')
    await client.query(
      "insert into idempotency_keys (caller_id, route, key, request_hash, created_at) values ($1, 'POST /api/tasks', $2, '', now())",
      [me.id, key],
    )
    const response = await create({ title: 'waits' }, key)
    expect([response.status, response.body.code]).toEqual([409, 'request_in_progress'])
    await client.query('rollback')
    client.release()
    expect((await create({ title: 'waits' }, key)).status).toBe(201)
  })
})

describe('the header', () => {
  test.each([
    ['1 character', 'k', 201],
    ['255 characters', 'k'.repeat(255), 201],
    ['256 characters', 'k'.repeat(256), 400],
  ])('of %s', async (_, key, status) => {
    const response = await create({ title: 'x' }, key)
    expect(response.status).toBe(status)
    if (status === 400) expect(response.body.errors[0].path).toBe('header.idempotency-key')
  })

  test('is rejected when the response contains a secret', async () => {
    const id = '00000000-0000-7000-8000-000000000000'
    const secretive = [
      ['/api/keys', { name: 'x' }],
      [`/api/keys/${id}/rotate`, {}],
      ['/api/webhook-secrets', {}],
      [`/api/webhook-secrets/${id}/rotate`, {}],
      [`/api/sources/${id}/rotate`, {}],
      ['/api/webhooks', { name: 'x', url: 'https://example.com' }],
      [`/api/webhooks/${id}/rotate`, {}],
      ['/api/sessions', { key: service.adminKey }],
    ] as const
    for (const [path, body] of secretive) {
      const response = await service.post(path, body, { headers: { 'idempotency-key': 'x' } })
      expect([path, response.status, response.body.code]).toEqual([path, 400, 'idempotency_not_supported'])
    }
  })

  test('is accepted by every creating POST, as in the reference', async () => {
    const { paths } = (await service.get('/openapi.json')).body
    const creating = routesOf(service.app).filter(
      ({ method, name }) =>
        method === 'POST' &&
        paths[name.slice(5).replace(/:(\w+)/g, '{$1}')]?.post.responses['201'] !== undefined &&
        !IN_ANOTHER_WAY.includes(name.slice(5)),
    )
    expect(creating.length).toBeGreaterThan(1)
    for (const { name } of creating) {
      const { parameters = [] } = paths[name.slice(5).replace(/:(\w+)/g, '{$1}')].post
      expect([name, parameters.map(({ name }: { name: string }) => name)]).toEqual([
        name,
        expect.arrayContaining(['idempotency-key']),
      ])
    }
  })
})

/** Their responses contain secrets, what they take is valid once, or duplicates are known by what the sender names. */
const IN_ANOTHER_WAY = [
  '/api/keys',
  '/api/me/keys',
  '/api/sources',
  '/api/webhooks',
  '/api/webhook-secrets',
  '/api/sessions',
  '/api/invites',
  '/api/invites/accept',
  '/api/me/passkeys',
  '/api/identity-providers',
  '/api/analytics/webhook',
  '/in/sources/:sourceId',
]
