import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

/** Sends this over a bare socket and reads until the service closes it. */
function say(text: string): Promise<string> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

test.each([
  ['what is not HTTP', 'hello\r\n\r\n', 400],
  ['headers beyond measure', `GET /api/me HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%s gets a problem as its response', async (_, text, status) => {
  const [head = '', body = ''] = (await say(text)).split('\r\n\r\n')
  expect(head).toContain(`HTTP/1.1 ${status} `)
  expect(head).toContain('Content-Type: application/problem+json')
  expect(JSON.parse(body)).toMatchObject({ status, code: 'bad_request', requestId: expect.any(String) })
})
