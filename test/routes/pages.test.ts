import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const ACCEPTS = [undefined, '*/*', 'application/json', 'image/png', 'text/html;q=0', 'text/html,*/*;q=0.8']
const get = (path: string, accept?: string) =>
  service.get(path, { key: null, headers: accept === undefined ? {} : { accept } })

test.each(['/', '/tasks/x', '/settings/keys?tab=1', '/invite', '/apidocs', '/inbox', '/docsx'])(
  'the page %s is one whatever Accept says',
  async (path) => {
    for (const accept of ACCEPTS) {
      const { headers } = await get(path, accept)
      expect([accept, headers.get('content-type')]).toEqual([accept, 'text/html; charset=utf-8'])
    }
  },
)

test.each([
  ...['/api', '/api/nothing', '/mcp/nothing', '/metrics/nothing', '/in/nothing', '/auth/x', '/oauth/x'],
  ...['/register', '/.well-known/openid-configuration', '/assets/nothing.js'],
])('%s is none', async (path) => {
  for (const accept of ACCEPTS) {
    const { status, headers } = await get(path, accept)
    expect([accept, [404, 401, 405].includes(status)]).toEqual([accept, true])
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
  }
})

test('crawlers are asked to stay away', async () => {
  const { status, headers, body } = await service.get('/robots.txt', { key: null })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(body).toBe('User-agent: *\nDisallow: /\n')
})
