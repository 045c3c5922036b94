import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewSource } from '../../src/schemas/source.ts'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { deliver, sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())
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
    [
      'an operator that Liquid would ignore with what follows',
      { filter: 'payload.level == "error" AND payload.n == 9' },
      '/filter',
      'invalid_template',
    ],
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
