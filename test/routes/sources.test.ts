import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewSource } from '../../src/schemas/source.ts'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { deliver, sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const DAY_MS = 86_400_000
const template = { title: '{{ payload.title }}' }

async function given(values: Partial<NewSource> = {}) {
  const project = await service.given.project()
  return { name: 'Forms', projectId: project.id, verify: { scheme: 'bearer' }, template, ...values }
}

describe('a source', () => {
  test('is created with a secret that is shown once', async () => {
    const input = await given({ each: 'payload.items', filter: 'item.isNew' })
    const { status, headers, body } = await service.post('/api/sources', input)
    const { secret, ...source } = body
    expect([status, headers.get('location')]).toEqual([201, `/api/sources/${source.id}`])
    expect(secret).toMatch(/^inls_[\w-]{43}$/)
    const absent = { description: null, priority: null, labels: null }
    expect(source).toEqual({
      ...input,
      id: expect.any(String),
      listId: null,
      mapping: 'template',
      clears: [],
      verify: { scheme: 'bearer', header: null, prefix: null },
      template: { ...template, ...absent, externalId: null, externalUrl: null, status: null },
      isActive: true,
      disabledReason: null,
      url: `${service.url}/in/sources/${source.id}`,
      createdAt: expect.any(String),
      updatedAt: source.createdAt,
    })
    expect((await service.get(`/api/sources/${source.id}`)).body).toEqual(source)
    const listed = await service.get(`/api/sources?projectId=${source.projectId}`)
    expect(listed.body).toEqual({ data: [source], nextCursor: null })
    const rows = await service.query('select * from sources where id = $1', [source.id])
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('is changed as it was returned', async () => {
    const { source } = await sourceOf(service)
    const { id, listId, verify, each, template } = source
    const change = { listId, verify, each, template, name: 'Renamed', filter: 'payload.ok', isActive: false }
    const { status, body } = await service.patch(`/api/sources/${id}`, change)
    expect([status, body]).toMatchObject([200, change])
    const cleared = await service.patch(`/api/sources/${id}`, { filter: null, template: { title: 'T' } })
    expect(cleared.body).toMatchObject({
      filter: null,
      name: 'Renamed',
      template: { title: 'T', status: null },
    })
  })

  test('logs what was done with it, without its secrets', async () => {
    const { source } = await sourceOf(service)
    await service.patch(`/api/sources/${source.id}`, { name: 'Renamed' })
    const { secret } = (await service.post(`/api/sources/${source.id}/rotate`, {})).body
    await service.delete(`/api/sources/${source.id}`)
    const { body } = await service.get(`/api/activity?projectId=${source.projectId}`)
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual([
      'source.deleted',
      'source.secret_rotated',
      'source.updated',
      'source.created',
    ])
    const text = JSON.stringify(body)
    expect([source.secret, secret].some((secret) => text.includes(secret))).toBe(false)
  })

  test.each<[string, Partial<NewSource>, string, string]>([
    [
      'a template that does not parse',
      { template: { title: '{{ x | y }}' } },
      '/template/title',
      'invalid_template',
    ],
    [
      'a tag that reads files',
      { template: { title: '{% include "x" %}' } },
      '/template/title',
      'invalid_template',
    ],
    ['a filter that does not parse', { filter: 'a %}{% endif %}' }, '/filter', 'invalid_template'],
    ['no title', { template: {} as NonNullable<NewSource['template']> }, '/template/title', 'required'],
    ['a path to nowhere', { each: 'items[0]' }, '/each', 'wrong_format'],
    [
      'a signature without its header',
      { verify: { scheme: 'hmac_sha256_hex' } },
      '/verify/header',
      'required',
    ],
    [
      'a header that is not read',
      { verify: { scheme: 'bearer', header: 'X-A' } },
      '/verify/header',
      'not_allowed',
    ],
    ['a short secret', { secret: 'short' }, '/secret', 'too_short'],
    [
      'a secret that is not Base64',
      { verify: { scheme: 'standard_webhooks' }, secret: 'whsec_not-base64-at-all' },
      '/secret',
      'wrong_format',
    ],
  ])('is not created with %s', async (_, values, path, code) => {
    const { status, body } = await service.post('/api/sources', await given(values))
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toEqual([expect.objectContaining({ path, code })])
  })

  test.each<[string, Partial<NewSource>, string]>([
    ['a secret', { secret: 'tücher und bänder!' }, 'must be ASCII characters without spaces'],
    [
      'a path',
      { each: 'items[0]' },
      'must be a path that begins with payload, such as payload.alerts, not "items[0]"',
    ],
    [
      'a header',
      { verify: { scheme: 'token', header: 'X Token' } },
      'must be the name of a header: 1 to 100 letters, digits, or hyphens, not "X Token"',
    ],
  ])('says in words what %s must be, and repeats no secret', async (_, values, message) => {
    const { status, body } = await service.post('/api/sources', await given(values))
    expect([status, body.errors.map(({ message }: { message: string }) => message)]).toEqual([400, [message]])
  })

  test('keeps its scheme, because its secret is stored for it', async () => {
    const { source } = await sourceOf(service)
    const change = { verify: { scheme: 'token', header: 'X-Token' } }
    const { status, body } = await service.patch(`/api/sources/${source.id}`, change)
    expect([status, body.errors[0].path]).toEqual([400, '/verify/scheme'])
  })

  test('is not found by others, and not created in a list of another project', async () => {
    const { source } = await sourceOf(service)
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['admin'], projectId: other.id })
    const path = `/api/sources/${source.id}`
    const responses = await Promise.all([
      service.get(path, { key }),
      service.patch(path, { name: 'x' }, { key }),
      service.post(`${path}/rotate`, {}, { key }),
      service.delete(path, { key }),
    ])
    expect(responses.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [404, 'source_not_found']),
    )
    expect((await service.get('/api/sources', { key })).body.data).toEqual([])
    const own = await service.post('/api/sources', await given({ projectId: other.id }), { key })
    expect(own.status).toBe(201)
    const foreign = await service.post('/api/sources', await given({ listId: other.inbox.id }))
    expect([foreign.status, foreign.body.code]).toEqual([404, 'list_not_found'])
  })
})

describe('without an encryption key', () => {
  let other: TestApp
  beforeAll(async () => {
    other = await startApp({ connectionString: service.connectionString })
  })
  afterAll(() => other.close())

  test('secrets that sign cannot be stored, and those that are sent can', async () => {
    const status = async (verify: NewSource['verify']) => {
      const { status, body } = await other.post('/api/sources', await given({ verify }))
      return [status, body.code]
    }
    expect(await status({ scheme: 'standard_webhooks' })).toEqual([422, 'encryption_key_missing'])
    expect(await status({ scheme: 'hmac_sha256_hex', header: 'X-Signature' })).toEqual([
      422,
      'encryption_key_missing',
    ])
    expect(await status({ scheme: 'bearer' })).toEqual([201, undefined])
    expect(await status({ scheme: 'token', header: 'X-Token' })).toEqual([201, undefined])
  })

  test('no signature can be verified, and the sender is asked to try again', async () => {
    const { source } = await sourceOf(service)
    expect(codeOf(await deliver(other, { source, payload: { title: 'x' } }))).toEqual([503, 'unavailable'])
  })
})

const SCHEMES: NewSource['verify'][] = [
  { scheme: 'bearer' },
  { scheme: 'standard_webhooks' },
  { scheme: 'hmac_sha256_hex', header: 'X-Signature' },
  { scheme: 'hmac_sha256_hex', header: 'X-Hub-Signature-256', prefix: 'sha256=' },
  { scheme: 'token', header: 'X-Gitlab-Token' },
]

describe.each(SCHEMES)('the scheme %j', (verify) => {
  test('accepts the secret, and no other', async () => {
    const sent = await sourceOf(service, { verify })
    const other = await sourceOf(service, { verify })
    expect((await sent.send({ title: 'A' })).status).toBe(201)
    for (const options of [
      { secret: other.source.secret },
      { headers: Object.fromEntries(HEADERS.map((name) => [name, undefined])) },
      { headers: Object.fromEntries(HEADERS.map((name) => [name, 'x'])) },
    ]) {
      expect((await sent.send({ title: 'B' }, options)).status).toBe(401)
    }
    const events = await service.query('select * from source_events where source_id = $1', [sent.source.id])
    expect(events).toHaveLength(1)
  })

  test('accepts the secret of the sender', async () => {
    const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const sent = await sourceOf(service, { verify, secret })
    expect(sent.source.secret).toBe(secret)
    expect((await sent.send({ title: 'A' })).status).toBe(201)
  })

  test('accepts two secrets while they overlap, and a third one ends the oldest', async () => {
    const sent = await sourceOf(service, { verify })
    const path = `/api/sources/${sent.source.id}/rotate`
    const first = sent.source.secret
    const second = (await service.post(path, { secret: 'c2VjcmV0LW9mLWEtcm90YXRlZC1lbmRwb2ludA==' })).body
      .secret
    const isAccepted = async (secret: string) => {
      const { status } = await sent.send({ title: `${Math.random()}` }, { secret })
      return status === 201 || status
    }
    expect([await isAccepted(first), await isAccepted(second)]).toEqual([true, true])
    const { status, body } = await service.post(path, {})
    expect(status).toBe(200)
    expect([await isAccepted(first), await isAccepted(second), await isAccepted(body.secret)]).toEqual([
      401,
      true,
      true,
    ])
    await service.query(
      `update sources set previous_secrets = jsonb_set(previous_secrets, '{0,until}', to_jsonb(now())) where id = $1`,
      [sent.source.id],
    )
    expect([await isAccepted(second), await isAccepted(body.secret)]).toEqual([401, true])
    const last = (await service.post(path, { overlapSeconds: 0 })).body
    expect([await isAccepted(body.secret), await isAccepted(last.secret)]).toEqual([401, true])
  })

  test('accepts nothing while the source is switched off', async () => {
    const sent = await sourceOf(service, { verify })
    await service.patch(`/api/sources/${sent.source.id}`, { isActive: false })
    const off = await sent.send({ title: 'A' })
    const unknown = await deliver(service, {
      source: { ...sent.source, url: sent.source.url.replace(/.{4}$/, '0000') },
      payload: { title: 'A' },
    })
    expect([off.status, unknown.status]).toEqual([401, 401])
    expect(off.body.detail).toBe(unknown.body.detail)
  })
})

const HEADERS = [
  'authorization',
  'webhook-signature',
  'x-signature',
  'x-hub-signature-256',
  'x-gitlab-token',
  'X-Signature',
  'X-Hub-Signature-256',
  'X-Gitlab-Token',
]

describe('a signature', () => {
  test('of yesterday is rejected', async () => {
    const sent = await sourceOf(service)
    const { status, body } = await sent.send({ title: 'A' }, { at: new Date(Date.now() - DAY_MS) })
    expect([status, body.code]).toEqual([401, 'invalid_credentials'])
  })

  test('of another body is rejected before the body is parsed', async () => {
    const verify = { scheme: 'hmac_sha256_hex', header: 'X-Signature' } as const
    const sent = await sourceOf(service, { verify })
    const signature = createHmac('sha256', sent.source.secret).update('{"title":"A"}').digest('hex')
    const { status } = await sent.send('{"broken', { headers: { 'X-Signature': signature } })
    expect(status).toBe(401)
  })
})

test.each<[string, string]>([
  ['standard_webhooks', 'webhook-signature: v1,x'],
  ['bearer', 'Authorization: Bearer wrong'],
])('what the headers decide is decided before the body arrives: %s', async (scheme, header) => {
  const { source } = await sourceOf(service, { verify: { scheme } as NewSource['verify'] })
  const { hostname, port, pathname } = new URL(source.url)
  const head = [`POST ${pathname} HTTP/1.1`, 'Host: x', 'Content-Length: 2000000', header, '', ''].join(
    '\r\n',
  )
  const line = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(head))
    socket.on('error', reject).once('data', (data) => {
      resolve(String(data).split('\r\n')[0] ?? '')
      socket.destroy()
    })
  })
  expect(line).toContain(' 401 ')
})
