import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { sendRaw } from '../support/raw.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const found = (body: { errors: FieldError[] }) => body.errors.map(({ path, code }) => `${path} ${code}`)

describe('a query', () => {
  test.each([
    ['limit=0', 'query.limit out_of_range'],
    ['limit=201', 'query.limit out_of_range'],
    ['limit=-1', 'query.limit out_of_range'],
    ['limit=1.5', 'query.limit wrong_type'],
    ['limit=ten', 'query.limit wrong_type'],
    ['limit=', 'query.limit wrong_type'],
    ['limit', 'query.limit wrong_type'],
    ['limit=true', 'query.limit wrong_type'],
    ['limit=1e999', 'query.limit out_of_range'],
    ['limit=99999999999999999999', 'query.limit out_of_range'],
    ['limit=1&limit=2', 'query.limit wrong_type'],
    ['projectId=inbox', 'query.projectId wrong_format'],
    ['projectId=', 'query.projectId wrong_format'],
    [`projectId=${UNKNOWN_ID}&projectId=${UNKNOWN_ID}`, 'query.projectId wrong_type'],
    ['listId=1', 'query.listId wrong_format'],
    ['status=closed', 'query.status not_allowed'],
    ['status=', 'query.status not_allowed'],
    ['status=open&status=OPEN', 'query.status not_allowed'],
    ['status=open,done', 'query.status not_allowed'],
    [`${'status=open&'.repeat(20)}status=open`, 'query.status too_many'],
    ['source=mail', 'query.source not_allowed'],
    ['priority=2', 'query.priority not_allowed'],
    ['label=', 'query.label too_short'],
    [`label=${'x'.repeat(101)}`, 'query.label too_long'],
    ['label=a%00', 'query.label invalid_text'],
    [`q=${'x'.repeat(201)}`, 'query.q too_long'],
    ['q=a%00b', 'query.q invalid_text'],
    ['q=a&q=b', 'query.q wrong_type'],
    ['updatedSince=yesterday', 'query.updatedSince wrong_format'],
    ['updatedSince=2026-01-01', 'query.updatedSince wrong_format'],
    ['updatedSince=2026-01-01T00:00:00', 'query.updatedSince wrong_format'],
    ['updatedSince=2026-02-30T00:00:00Z', 'query.updatedSince wrong_format'],
    ['updatedSince=2026-01-01T25:00:00Z', 'query.updatedSince wrong_format'],
    ['updatedSince=0000-01-01T00:00:00Z', 'query.updatedSince wrong_format'],
    ['updatedSince=infinity', 'query.updatedSince wrong_format'],
    ['updatedSince=1767225600', 'query.updatedSince wrong_format'],
    ['codehostPrNumber=0', 'query.codehostPrNumber out_of_range'],
    ['codehostPrNumber=2147483648', 'query.codehostPrNumber out_of_range'],
    ['codehostPrNumber=seven', 'query.codehostPrNumber wrong_type'],
    ['fields=title', 'query.fields not_allowed'],
    ['sort=title', 'query.sort not_allowed'],
    ['sort=priority', 'query.sort not_allowed'],
    ['sort=createdAt&sort=updatedAt', 'query.sort wrong_type'],
    ['cursor=', 'query.cursor too_short'],
    [`cursor=${'x'.repeat(1025)}`, 'query.cursor too_long'],
    ['nope=1', 'query.nope unknown_field'],
    ['nope', 'query.nope unknown_field'],
    ['Limit=1', 'query.Limit unknown_field'],
    ['limit[]=1', 'query.limit[] unknown_field'],
    ['__proto__=1', 'query.__proto__ unknown_field'],
    ['constructor=1', 'query.constructor unknown_field'],
    ['constructor[prototype]=1', 'query.constructor[prototype] unknown_field'],
    ['a/b~c=1', 'query.a/b~c unknown_field'],
    ['=1', 'query. unknown_field'],
  ])('of %s is rejected by name', async (query, error) => {
    const refused = await service.get(`/api/tasks?${query}`)

    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('validation_failed')
    expect(found(refused.body)).toContain(error)
  })

  test.each([
    'limit=5',
    'limit=%35',
    'limit=005',
    'limit=5.0',
    'codehostPrNumber=2147483647',
    'q=',
    `q=${encodeURIComponent('🔥'.repeat(200))}`,
    `label=${encodeURIComponent('🔥'.repeat(100))}`,
    'q=%ff%fe',
    'q=%',
    'q=%zz',
    'q=%ed%a0%80',
    'q=a+b',
    'status=open&status=open',
    `${'status=open&'.repeat(20)}`,
    '&&',
    '',
  ])('of %j is accepted', async (query) => {
    expect((await service.get(`/api/tasks?${query}`)).status).toBe(200)
  })

  test('returns all its errors at once', async () => {
    const refused = await service.get('/api/tasks?limit=0&sort=title&nope=1&status=x&status=y')

    expect(found(refused.body).sort()).toEqual([
      'query.limit out_of_range',
      'query.nope unknown_field',
      'query.sort not_allowed',
      'query.status not_allowed',
      'query.status not_allowed',
    ])
  })

  test('with an unknown parameter is rejected on every route', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    const bulk = { listId: task.listId, tasks: [{ title: 'A' }] }

    for (const [method, path, body] of [
      ['GET', '/api/me'],
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/problems/not_found'],
      ['GET', `/api/tasks/${task.id}`],
      ['POST', '/api/tasks', { title: 'A' }],
      ['POST', '/api/tasks/bulk', bulk],
      ['PATCH', `/api/tasks/${task.id}`, { title: 'A' }],
      ['DELETE', `/api/tasks/${task.id}`],
      ['POST', `/api/tasks/${task.id}/restore`],
    ] as const) {
      const refused = await service.call(method, `${path}?nope=1`, { body })
      expect([path, refused.status, refused.body.errors?.[0]]).toMatchObject([
        path,
        400,
        { path: 'query.nope', code: 'unknown_field' },
      ])
    }
  })
})

describe('an id that is not a UUID', () => {
  test.each([
    'x',
    '1',
    'null',
    UNKNOWN_ID.replaceAll('-', ''),
    `${UNKNOWN_ID}0`,
    '%20',
    'a%00b',
    '%F0%9F%94%A5',
    "'--",
    'x'.repeat(8000),
  ])('is rejected on every route that takes one: %s', async (id) => {
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const) {
      const refused = await service.call(method, `/api/tasks/${id}${path}`, {
        ...(method === 'PATCH' && { body: { nope: 1 } }),
      })

      expect([method, refused.status]).toEqual([method, 400])
      expect(found(refused.body)).toContain('path.id wrong_format')
      expect(found(refused.body).every((error) => error.startsWith('path.'))).toBe(true)
      expect(refused.body.errors[0].message.length).toBeLessThan(200)
    }
  })
})

describe('a URL', () => {
  test.each([
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/nope'],
    ['POST', '/api/nope'],
    ['DELETE', '/api/tasks/x/y/z'],
    ['POST', '/nope'],
    ['GET', '/mcp/nope'],
  ])('without a route is 404: %s %s', async (method, path) => {
    const refused = await service.call(method, path, { key: null })

    expect(refused.status).toBe(404)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.body).toMatchObject({ type: '/problems/not_found', code: 'not_found', status: 404 })
  })

  test('is quoted with at most a hundred characters', async () => {
    const refused = await service.get(`/api/${'x'.repeat(4000)}`)

    expect(refused.status).toBe(404)
    expect(refused.body.detail.length).toBeLessThan(250)
  })

  test.each(['/api/tasks/%zz', '/api/tasks/%', '/api/tasks/%ff', '/%c0%ae', '/problems/%e0%a4%a'])(
    'that cannot be decoded is rejected like any other input: %s',
    async (path) => {
      const refused = await sendRaw(service.url, { method: 'GET', path, headers: { 'x-request-id': 'abc' } })

      expect(refused.status).toBe(400)
      expect(refused.headers.get('content-type')).toBe('application/problem+json')
      expect(refused.headers.get('x-request-id')).toBe('abc')
      expect(refused.body).toMatchObject({ code: 'validation_failed', status: 400, requestId: 'abc' })
      expect((await service.get(refused.body.type)).status).toBe(200)
    },
  )

  test.each([
    ['PUT', '/api/tasks', 'GET, POST'],
    ['DELETE', '/api/tasks', 'GET, POST'],
    ['PUT', '/api/tasks/bulk', 'POST, PATCH'],
    // `/api/tasks/:id` supports these methods; this URL has its own.
    ['GET', '/api/tasks/bulk', 'POST, PATCH'],
    ['HEAD', '/api/tasks', 'GET, POST'],
    ['HEAD', `/api/tasks/${UNKNOWN_ID}`, 'GET, PATCH, DELETE'],
    ['HEAD', '/metrics', 'GET'],
    ['HEAD', '/api/tasks/bulk', 'POST, PATCH'],
    ['DELETE', '/api/tasks/bulk?onError=continue', 'POST, PATCH'],
    ['DELETE', '/api/webhook-routing/test', 'POST'],
    ['POST', `/api/tasks/${UNKNOWN_ID}`, 'GET, PATCH, DELETE'],
    ['GET', `/api/tasks/${UNKNOWN_ID}/restore`, 'POST'],
    ['POST', '/api/me', 'GET, PATCH'],
    ['OPTIONS', '/api/tasks', 'GET, POST'],
    ['POST', '/healthz?a=b', 'GET, HEAD'],
  ])('with another method names the supported ones: %s %s', async (method, path, allow) => {
    const refused = await service.call(method, path, { key: null })

    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toBe(allow)
    if (method === 'HEAD') return
    expect(refused.body).toMatchObject({ code: 'method_not_allowed', type: '/problems/method_not_allowed' })
  })
})
