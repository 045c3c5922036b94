import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { type Receiver, SENDING_ENV, startReceiver, verify, webhookTo } from '../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
beforeAll(async () => {
  app = await startApp({ env: SENDING_ENV })
  receiver = await startReceiver()
})
afterAll(async () => {
  await app.close()
  await receiver.close()
})

describe('a webhook', () => {
  test('is created with a secret that is shown once, and stored encrypted', async () => {
    const project = await app.given.project()
    const input = { name: 'Chat', url: receiver.url, types: ['task.created'], projectId: project.id }
    const { status, headers, body } = await app.post('/api/webhooks', input)
    const { secret, ...webhook } = body
    expect([status, headers.get('location')]).toEqual([201, `/api/webhooks/${webhook.id}`])
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toEqual({
      ...input,
      id: expect.any(String),
      isActive: true,
      disabledReason: null,
      nextAttemptAt: null,
      createdAt: expect.any(String),
    })
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toEqual(webhook)
    expect((await app.get('/api/webhooks')).body.data).toContainEqual(webhook)
    const rows = await app.query('select * from webhooks where id = $1', [webhook.id])
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6, 30))
    await app.delete(`/api/webhooks/${webhook.id}`)
  })

  test('is for everything unless it says otherwise', async () => {
    const webhook = await webhookTo(app, { url: receiver.url })
    expect(webhook).toMatchObject({ types: [], projectId: null, isActive: true })
    await app.delete(`/api/webhooks/${webhook.id}`)
  })

  test('is changed, and keeps what was not given', async () => {
    const { secret: _, ...webhook } = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const change = { name: 'Renamed', types: ['task.completed', 'task.completed'] }
    const { status, body } = await app.patch(`/api/webhooks/${webhook.id}`, change)
    expect([status, body]).toEqual([200, { ...webhook, name: 'Renamed', types: ['task.completed'] }])
    const off = await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    expect(off.body).toMatchObject({ name: 'Renamed', isActive: false, disabledReason: null })
    await app.delete(`/api/webhooks/${webhook.id}`)
    expect(await app.get(`/api/webhooks/${webhook.id}`)).toMatchObject({
      status: 404,
      body: { code: 'webhook_not_found' },
    })
  })

  test('is logged, without its secrets and its URL', async () => {
    const project = await app.given.project()
    const url = `${receiver.url}?token=of-the-url`
    const { id, secret } = await webhookTo(app, { url, projectId: project.id })
    await app.patch(`/api/webhooks/${id}`, { name: 'Renamed' })
    const { body: rotated } = await app.post(`/api/webhooks/${id}/rotate`, {})
    await app.delete(`/api/webhooks/${id}`)
    const { body } = await app.get(`/api/activity?projectId=${project.id}`)
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual([
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.updated',
      'webhook.created',
    ])
    const text = JSON.stringify(body)
    for (const hidden of [secret, rotated.secret, 'of-the-url']) expect(text).not.toContain(hidden)
  })

  test('is one of at most 20, also when requests race', async () => {
    const { body: before } = await app.get('/api/webhooks?limit=200')
    const responses = await Promise.all(
      Array.from({ length: 25 - before.data.length }, () =>
        app.post('/api/webhooks', { name: 'One of many', url: receiver.url }),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(20 - before.data.length)
    expect(responses.find(({ status }) => status !== 201)).toMatchObject({
      status: 409,
      body: { code: 'too_many_webhooks' },
    })
    for (const { status, body } of responses) if (status === 201) await app.delete(`/api/webhooks/${body.id}`)
  })

  test.each<[string, object, string]>([
    ['no name', { name: ' ' }, '/name'],
    ['no URL', { url: 'hooks.example.com' }, '/url'],
    ['another protocol', { url: 'ftp://127.0.0.1/' }, '/url'],
    ['a user in the URL', { url: 'http://user:secret@127.0.0.1/' }, '/url'],
    ['a family of types', { types: ['task.*'] }, '/types/0'],
    ['too many types', { types: Array.from({ length: 51 }, (_, n) => `type.${n}`) }, '/types'],
    ['a project that is no id', { projectId: 'mine' }, '/projectId'],
    ['an unknown field', { disabledReason: 'gone' }, '/disabledReason'],
  ])('is refused with %s', async (_, input, path) => {
    const given = { name: 'Chat', url: receiver.url, ...input }
    expect(await app.post('/api/webhooks', given)).toMatchObject({
      status: 400,
      body: {
        code: 'validation_failed',
        errors: expect.arrayContaining([expect.objectContaining({ path })]),
      },
    })
  })

  test.each([
    ['http://example.com/', 'not_https'],
    ['http://localhost/', 'not_https'],
    ['https://localhost/', 'not_public'],
    ['https://127.0.0.2/', 'not_public'],
    ['https://2130706434/', 'not_public'],
    ['https://0x7f.2/', 'not_public'],
    ['https://169.254.169.254/latest/meta-data', 'not_public'],
    ['https://[::1]/', 'not_public'],
    ['https://[::ffff:169.254.169.254]/', 'not_public'],
    ['https://[64:ff9b::a00:1]/', 'not_public'],
    ['https://does-not-exist.invalid/', 'not_found'],
  ])('cannot send to %s, because it is %s', async (url, code) => {
    expect(await app.post('/api/webhooks', { name: 'Chat', url })).toMatchObject({
      status: 422,
      body: { code: 'webhook_url_not_allowed', errors: [{ path: '/url', code }] },
    })
  })

  test('needs an allowed URL also when it is changed, and otherwise stays as it is', async () => {
    const { id } = await webhookTo(app, { url: receiver.url })
    const { status } = await app.patch(`/api/webhooks/${id}`, { url: 'https://10.0.0.1/', name: 'Moved' })
    expect(status).toBe(422)
    expect((await app.get(`/api/webhooks/${id}`)).body).toMatchObject({
      name: 'A receiver',
      url: receiver.url,
    })
    await app.delete(`/api/webhooks/${id}`)
  })
})

describe('the secret of a webhook', () => {
  test('is rotated: for the overlap, deliveries have signatures of both', async () => {
    const webhook = await webhookTo(app, { url: receiver.url })
    const path = `/api/webhooks/${webhook.id}`
    const { status, body: rotated } = await app.post(`${path}/rotate`, {})
    expect([status, rotated.secret === webhook.secret]).toEqual([200, false])
    receiver.received.length = 0
    await app.post(`${path}/test`)
    const [both] = receiver.received
    for (const { secret } of [webhook, rotated]) expect(() => both && verify(both, secret)).not.toThrow()
    expect(await app.post(`${path}/rotate`, {})).toMatchObject({
      status: 409,
      body: { code: 'too_many_secrets' },
    })

    const { body: last } = await app.post(`${path}/rotate`, { overlapSeconds: 0 })
    await app.post(`${path}/test`)
    const [, only] = receiver.received
    if (!only) throw new Error('The second test did not arrive.')
    expect(() => verify(only, last.secret)).not.toThrow()
    for (const { secret } of [webhook, rotated]) expect(() => verify(only, secret)).toThrow()
    await app.delete(path)
  })

  test('does not work together with an idempotency key, whose response would be stored', async () => {
    const options = { headers: { 'idempotency-key': 'once' } }
    const { body } = await app.post('/api/webhooks', { name: 'Chat', url: receiver.url }, options)
    expect(body.code).toBe('idempotency_not_supported')
  })

  test('cannot be stored without an encryption key', async () => {
    const other = await startApp({
      env: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' },
      connectionString: app.connectionString,
    })
    const { status, body } = await other.post(
      '/api/webhooks',
      { name: 'Chat', url: receiver.url },
      { key: app.adminKey },
    )
    expect([status, body.code]).toEqual([422, 'encryption_key_missing'])
    await other.close()
  })
})

describe('a key that is bound to a project', () => {
  test('sees and creates webhooks of its project only', async () => {
    const [mine, other] = [await app.given.project(), await app.given.project()]
    const key = await app.given.key({ projectId: mine.id })
    const theirs = await webhookTo(app, { url: receiver.url, projectId: other.id })
    const general = await webhookTo(app, { url: receiver.url })
    const { status, body } = await app.post('/api/webhooks', { name: 'Mine', url: receiver.url }, { key })
    expect([status, body.projectId]).toEqual([201, mine.id])
    const listed = await app.get('/api/webhooks', { key })
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id])
    for (const { id } of [theirs, general]) {
      for (const path of ['', '/deliveries']) {
        expect((await app.get(`/api/webhooks/${id}${path}`, { key })).body.code).toBe('webhook_not_found')
      }
      for (const action of ['rotate', 'test']) {
        expect((await app.post(`/api/webhooks/${id}/${action}`, undefined, { key })).status).toBe(404)
      }
      expect((await app.delete(`/api/webhooks/${id}`, { key })).status).toBe(404)
    }
    const beyond = async (projectId: string | null) =>
      (await app.post('/api/webhooks', { name: 'Beyond', url: receiver.url, projectId }, { key })).body.code
    expect([await beyond(null), await beyond(other.id)]).toEqual(['insufficient_scope', 'project_not_found'])
    for (const { id } of [theirs, general, body]) await app.delete(`/api/webhooks/${id}`)
  })

  test('needs the scope admin', async () => {
    const key = await app.given.key({ scopes: ['tasks:read', 'tasks:write'] })
    expect((await app.get('/api/webhooks', { key })).body).toMatchObject({
      code: 'insufficient_scope',
      requiredScope: 'admin',
    })
  })
})

describe('an imported webhook', () => {
  test('is switched on after it got a secret', async () => {
    const { id } = await webhookTo(app, { url: receiver.url })
    const path = `/api/webhooks/${id}`
    await app.query(
      `update webhooks set secret = null, is_active = false, disabled_reason = 'imported' where id = $1`,
      [id],
    )
    for (const response of [await app.patch(path, { isActive: true }), await app.post(`${path}/test`)]) {
      expect(response).toMatchObject({ status: 409, body: { code: 'webhook_secret_missing' } })
    }
    const kept = await app.patch(path, { name: 'Renamed', isActive: false })
    expect(kept.body).toMatchObject({ isActive: false, disabledReason: 'imported' })
    await app.post(`${path}/rotate`, {})
    const { body } = await app.patch(path, { isActive: true })
    expect(body).toMatchObject({ isActive: true, disabledReason: null })
    await app.delete(path)
  })
})

test.each(['https://10.0.0.1/', 'http://example.com/', 'nowhere'])(
  'a webhook is switched on only with an allowed URL: %s',
  async (url) => {
    const { id } = await webhookTo(app, { url: receiver.url })
    const path = `/api/webhooks/${id}`
    await app.query('update webhooks set url = $2, is_active = false where id = $1', [id, url])
    expect(await app.patch(path, { isActive: true })).toMatchObject({
      status: 422,
      body: { code: 'webhook_url_not_allowed' },
    })
    expect((await app.patch(path, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', url })
    const { body } = await app.patch(path, { isActive: true, url: receiver.url })
    expect(body).toMatchObject({ isActive: true, url: receiver.url })
    await app.delete(path)
  },
)
