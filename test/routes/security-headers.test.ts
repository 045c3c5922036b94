import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { routesOf } from '../support/routes.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const SAFE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

describe('responses of the API', () => {
  test('are never cached or sniffed, errors on every route included', async () => {
    const routes = routesOf(service.app).filter(({ path }) => path.startsWith('/api'))
    expect(routes.length).toBeGreaterThan(20)
    for (const { method, path } of routes) {
      const { headers } = await service.call(method, path, { key: null })
      expect(Object.fromEntries(headers)).toMatchObject(SAFE)
    }
  })

  test.each(['/api/tasks', '/api/me', '/api/nothing', '/api/tasks/no-id', '/api/tasks/%'])(
    'GET %s',
    async (path) => {
      expect(Object.fromEntries((await service.get(path)).headers)).toMatchObject(SAFE)
    },
  )
})

test.each(['/docs', '/docs/', '/'])('the page %s cannot be framed', async (path) => {
  const { headers } = await service.get(path, { key: null, headers: { accept: 'text/html' } })
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})
