import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '../support/app.ts'
import { deliver as pushDelivery } from '../support/code-host-deliveries.ts'
import { WEBHOOK_SECRET } from '../support/feedback.ts'
import { sendRaw } from '../support/raw.ts'
import { deliver, sourceOf } from '../support/sources.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ env: { WEBHOOK_SECRET } })
})
afterAll(() => service.close())

const TASK = JSON.stringify({ title: 'A task' })

const send = (
  path: string,
  { method = 'POST', headers = {}, body = TASK }: Partial<Parameters<typeof sendRaw>[1]> = {},
) =>
  sendRaw(service.url, {
    method,
    path,
    headers: { 'x-api-key': service.adminKey, 'content-type': 'application/json', ...headers },
    ...(method !== 'GET' && { body }),
  })

describe('a request with a Content-Encoding', () => {
  test.each(['gzip', 'br', 'deflate, gzip', 'x-unknown', 'identity, gzip'])(
    'is rejected, and told what is accepted: %s',
    async (encoding) => {
      const response = await send('/api/tasks', { headers: { 'content-encoding': encoding } })

      expect(codeOf(response)).toEqual([415, 'unsupported_media_type'])
      expect(response.body.detail).toBe(
        `Content-Encoding ${encoding} is not supported; send the body without one.`,
      )
      expect(response.headers.get('accept-encoding')).toBe('identity')
    },
  )

  test('is rejected whatever the body is, and before it is parsed', async () => {
    const headers = { 'content-encoding': 'gzip' }
    for (const body of ['{', '', gzipSync(TASK)]) {
      expect((await send('/api/tasks', { headers, body })).status).toBe(415)
    }
  })

  test('is served if it has no body by its method', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await send('/api/tasks', { method: 'GET', headers })).status).toBe(200)
  })

  test.each(['identity', 'IDENTITY', 'identity, identity', ''])(
    'is accepted if it says that nothing is encoded: %j',
    async (encoding) => {
      expect((await send('/api/tasks', { headers: { 'content-encoding': encoding } })).status).toBe(201)
    },
  )

  test.each([
    ['/api/tasks/bulk', JSON.stringify({ tasks: [] })],
    ['/api/import', 'x', 'application/x-ndjson'],
    ['/api/sessions', JSON.stringify({ key: 'x' })],
    ['/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })],
  ])('is rejected by %s', async (path, body, type = 'application/json') => {
    const headers = { 'content-encoding': 'gzip', 'content-type': type }
    expect(codeOf(await send(path, { headers, body }))).toEqual([415, 'unsupported_media_type'])
  })

  test('learns nothing without a key', async () => {
    const headers = { 'content-encoding': 'gzip', 'x-api-key': undefined }
    expect((await send('/api/tasks', { headers })).status).toBe(401)
    expect((await send('/mcp', { headers })).status).toBe(401)
  })

  test('is rejected by the receiver of feedback', async () => {
    const headers = { 'content-encoding': 'gzip', authorization: `Bearer ${WEBHOOK_SECRET}` }
    expect(codeOf(await send('/api/analytics/webhook', { headers }))).toEqual([415, 'unsupported_media_type'])
    const strange = { ...headers, authorization: 'Bearer wrong' }
    expect((await send('/api/analytics/webhook', { headers: strange })).status).toBe(401)
  })

  test.each(['standard_webhooks', 'bearer'] as const)('is rejected by a source: %s', async (scheme) => {
    const { source } = await sourceOf(service, { verify: { scheme } })
    const sent = { source, payload: { title: 'x' }, headers: { 'content-encoding': 'gzip' } }
    expect(codeOf(await deliver(service, sent))).toEqual([415, 'unsupported_media_type'])
  })

  test('is rejected by the receiver of the code host', async () => {
    const repository = service.host.repository('acme/encoded')
    const project = await service.given.project()
    const { body } = await service.put(`/api/projects/${project.id}/codehost`, {
      repository: repository.name,
      schedule: 'off',
    })
    const delivery = { event: 'ping', payload: {} }
    const response = await pushDelivery(body.webhook, delivery, { headers: { 'content-encoding': 'gzip' } })
    expect(codeOf(response)).toEqual([415, 'unsupported_media_type'])
  })
})

describe('the Host header', () => {
  const text = (...hosts: string[]) =>
    ['GET /healthz HTTP/1.1', ...hosts.map((host) => `Host: ${host}`), 'Connection: close', '', ''].join(
      '\r\n',
    )

  test.each([[['localhost', 'evil.example']], [['localhost', 'localhost']]])(
    'is sent once: %j',
    async (hosts) => {
      const [head = '', body = ''] = (await say(text(...hosts))).split('\r\n\r\n')
      expect(head).toContain('HTTP/1.1 400 ')
      expect(JSON.parse(body)).toMatchObject({
        code: 'validation_failed',
        errors: [{ path: 'header.host' }],
      })
      expect(await say(text('localhost'))).toContain('HTTP/1.1 200 ')
    },
  )
})

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
