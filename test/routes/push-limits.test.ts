import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../support/code-host.ts'
import { deliver } from '../support/code-host-deliveries.ts'

const MIB = 1024 * 1024

let host: CodeHostFake
let service: TestApp
let limits: ReturnType<typeof limitsOf>
let webhook: { url: string; secret: string }
beforeAll(async () => {
  host = await startCodeHost()
  const env = {
    CODEHOST_API_URLS: host.url,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    RATE_LIMIT_RECEIVER_PER_MINUTE: '3',
    RATE_LIMIT_FAILURES_PER_MINUTE: '4',
  }
  limits = limitsOf(loadConfig(env))
  service = await startApp({ env, limits })
  host.repository('acme/app')
  const project = await service.given.project()
  const connection = { repository: 'acme/app', schedule: 'off' }
  webhook = (await service.put(`/api/projects/${project.id}/codehost`, connection)).body.webhook
})
afterAll(async () => {
  await service.close()
  await host.close()
})

const ping = { event: 'ping', payload: { zen: 'Keep it logically awesome.' } }

test('bodies that are not verified yet have memory of their own, and others are refused when it is full', async () => {
  const sending = Array.from({ length: 17 }, () => startSending(4 * MIB))
  const statuses = sending.map(({ status }) => status)
  // Sixteen fit with all but their last byte, and of the other one as much as is left.
  const refused = await Promise.race(statuses)
  expect([503, 408]).toContain(refused)
  await vi.waitFor(() => expect(limits.unverifiedIntake.totalBytes()).toBe(16 * (4 * MIB - 1)))
  expect(limits.bodyIntake.totalBytes()).toBe(0)
  for (const { finish } of sending) finish()
  // Their signature is wrong, which is known only now; four may be.
  expect((await Promise.all(statuses)).filter((status) => [401, 429].includes(status))).toHaveLength(16)
  await vi.waitFor(() => expect(limits.unverifiedIntake.totalBytes()).toBe(0))
})

test('wrong signatures are limited, and do not count towards the limit of deliveries', async () => {
  const wrong = { ...webhook, secret: 'wrong' }
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await deliver(wrong, ping)).status)
  expect(statuses.at(-1)).toBe(429)
  for (let i = 0; i < 3; i++) expect((await deliver(webhook, ping)).status).toBe(202)
  const { status, body } = await deliver(webhook, ping)
  expect([status, body.code]).toEqual([429, 'rate_limited'])
})

/** Sends all but the last byte of a body with a wrong signature. */
function startSending(bytes: number) {
  const sent = request(webhook.url, {
    method: 'POST',
    headers: {
      'content-length': bytes,
      'x-github-event': 'ping',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', 'wrong').digest('hex')}`,
    },
  })
  const { promise: status, resolve } = Promise.withResolvers<number>()
  sent.on('response', (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  sent.on('error', () => resolve(0))
  sent.write(Buffer.alloc(bytes - 1, ' '))
  return { status, finish: () => sent.end(' ') }
}
