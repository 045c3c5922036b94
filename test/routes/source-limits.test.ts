import { request } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type SentSource, sourceOf } from '../support/sources.ts'

const MIB = 1024 * 1024

let service: TestApp
let limits: ReturnType<typeof limitsOf>
beforeAll(async () => {
  const env = {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    RATE_LIMIT_RECEIVER_PER_MINUTE: '2',
    RATE_LIMIT_FAILURES_PER_MINUTE: '0',
  }
  limits = limitsOf(loadConfig(env))
  service = await startApp({ env, limits })
})
afterAll(() => service.close())

test('a body that has to be verified uses the memory of unverified bodies, any other that of all', async () => {
  const signed = await sourceOf(service)
  const known = await sourceOf(service, { verify: { scheme: 'bearer' } })
  const held = () => [limits.unverifiedIntake.totalBytes(), limits.bodyIntake.totalBytes()]
  const timestamp = `${Math.floor(Date.now() / 1000)}`
  const signature = `v1,${Buffer.alloc(32).toString('base64')}`
  const end = startSending(signed, {
    'webhook-id': 'msg_held',
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  })
  await vi.waitFor(() => expect(held()).toEqual([MIB - 1, 0]))
  end()
  await vi.waitFor(() => expect(held()).toEqual([0, 0]))
  const endKnown = startSending(known, { authorization: `Bearer ${known.source.secret}` })
  await vi.waitFor(() => expect(held()).toEqual([0, MIB - 1]))
  endKnown()
  await vi.waitFor(() => expect(held()).toEqual([0, 0]))
})

test('only verified deliveries count towards the limit of the receivers', async () => {
  const signed = await sourceOf(service)
  const other = await sourceOf(service)
  const statusWith = async (options: { secret?: string }) =>
    (await signed.send({ title: 'A' }, options)).status
  const wrong = { secret: other.source.secret }
  expect([await statusWith(wrong), await statusWith(wrong), await statusWith(wrong)]).toEqual([401, 401, 401])
  expect([await statusWith({}), await statusWith({})]).toEqual([201, 201])
  const { status, headers, body } = await other.send({ title: 'B' })
  expect([status, body.code]).toEqual([429, 'rate_limited'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
})

/** Sends all but the last byte of a mebibyte; the returned function disconnects. */
function startSending({ source }: SentSource, headers: Record<string, string>): () => void {
  const sent = request(new URL(new URL(source.url).pathname, service.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': MIB, ...headers },
  })
  sent.on('error', () => {})
  sent.write(Buffer.alloc(MIB - 1, ' '))
  return () => sent.destroy()
}
