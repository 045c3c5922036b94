import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

test.each(['/docs', '/docs/', '/openapi.json'])('the reference is at %s', async (path) => {
  expect((await service.get(path, { key: null })).status).toBe(200)
})

describe('a request id', () => {
  test.each(['abc', '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081', 'a.b:c/d+e=f_g', 'x'.repeat(128)])(
    'that is valid is kept, returned and put into errors: %s',
    async (id) => {
      const headers = { 'x-request-id': id }
      const [good, bad] = [
        await service.get('/api/me', { headers }),
        await service.get('/api/tasks?nope=1', { headers }),
      ]

      expect([good.headers.get('x-request-id'), bad.headers.get('x-request-id')]).toEqual([id, id])
      expect(bad.body.requestId).toBe(id)
    },
  )

  test.each(['', ' ', 'a b', 'x'.repeat(129), '"quoted"', '<script>', 'ä', 'a,b'])(
    'that is not is replaced: %j',
    async (id) => {
      const refused = await service.get('/api/nope', { headers: { 'x-request-id': id } })

      expect(refused.body.requestId).toMatch(/^[0-9a-f-]{36}$/)
      expect(refused.headers.get('x-request-id')).toBe(refused.body.requestId)
    },
  )

  test('is generated for every request without one', async () => {
    const ids = [await service.get('/api/me'), await service.get('/api/me')].map(({ headers }) =>
      headers.get('x-request-id'),
    )

    expect(new Set(ids).size).toBe(2)
  })
})

describe('the type of a problem', () => {
  test('is a URL that explains it, without credentials', async () => {
    const problems = [
      await service.get('/api/tasks?nope=1'),
      await service.get('/api/tasks?cursor=x'),
      await service.get('/api/me', { key: null }),
      await service.get('/api/me', { key: 'wrong' }),
      await service.get('/api/nope'),
      await service.get(`/api/tasks/${UNKNOWN_ID}`),
      await service.post('/api/tasks', '{'),
      await service.post('/api/me'),
      await service.post('/api/tasks', 'a', { headers: { 'content-type': 'text/plain' } }),
    ]

    for (const { body } of problems) {
      const explained = await service.get(body.type, { key: null })
      expect(explained).toMatchObject({
        status: 200,
        body: { code: body.code, status: body.status, title: body.title },
      })
      expect(explained.body.explanation.length).toBeGreaterThan(10)
    }
  })

  test.each(['nope', 'constructor', '__proto__', 'toString'])(
    'that does not exist is 404: %s',
    async (code) => {
      expect(await service.get(`/problems/${code}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    },
  )
})
