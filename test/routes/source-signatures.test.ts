import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewSource } from '../../src/schemas/source.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { deliver, sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const DAY_MS = 86_400_000

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
    const events = await service.query('select * from deliveries where source_id = $1', [sent.source.id])
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
