import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildReceiver, limitsOf } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { routesOf } from '../support/routes.ts'
import { deliver, sourceOf } from '../support/sources.ts'

let service: TestApp
let alone: Awaited<ReturnType<typeof buildReceiver>>
let url: string
beforeAll(async () => {
  service = await startApp()
  alone = await buildReceiver({
    config: loadConfig({ WEBHOOK_SECRET: 'a-secret-of-16-characters', WEBHOOK_PORT: '0' }),
    logger: pino({ level: 'silent' }),
    services: service.service,
  })
  url = await alone.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await alone.close()
  await service.close()
})

test('the receiver accepts feedback on its own port', async () => {
  const event = feedback()
  const first = await sender(url, 'a-secret-of-16-characters')(event)
  expect(first.status).toBe(201)
  expect(await sender(url, 'a-secret-of-16-characters')(event)).toMatchObject({
    status: 200,
    body: { taskId: first.body.taskId },
  })
  expect((await sender(url, 'wrong')(event)).status).toBe(401)
  expect((await service.get(`/api/tasks/${first.body.taskId}`)).status).toBe(200)
})

test('the push receiver is on that port, too', async () => {
  const { status } = await fetch(`${url}/in/codehost/x`, { method: 'POST', body: '{}' })
  expect(status).toBe(401)
})

test('sources are on that port, too', async () => {
  const { source } = await sourceOf(service, { verify: { scheme: 'bearer' } })
  const { pathname } = new URL(source.url)
  const there = { ...service, url }
  const { status } = await deliver(there, { source, payload: { title: 'Over the other port' } })
  expect([pathname, status]).toEqual([`/in/sources/${source.id}`, 201])
})

const RECEIVERS = [
  'POST /api/analytics/webhook',
  'POST /in/codehost/:connectionId',
  'POST /in/sources/:sourceId',
]

test('that port has no other route, with any key', async () => {
  for (const { method, path, name } of routesOf(service.app)) {
    if (RECEIVERS.includes(name)) continue
    const { status } = await fetch(url + path, { method, headers: { 'x-api-key': service.adminKey } })
    expect([name, status]).toEqual([name, 404])
  }
  expect((await fetch(`${url}/api/analytics/webhook`)).status).toBe(405)
})

test('both ports share one limit', async () => {
  const secret = 'a-secret-of-16-characters'
  const env = { WEBHOOK_SECRET: secret, RATE_LIMIT_RECEIVER_PER_MINUTE: '3' }
  const limits = limitsOf(loadConfig(env))
  const main = await startApp({ env, limits })
  const other = await buildReceiver({
    config: loadConfig(env),
    logger: pino({ level: 'silent' }),
    services: main.service,
    limits,
  })
  try {
    const send = [
      sender(main.url, secret),
      sender(await other.listen({ port: 0, host: '127.0.0.1' }), secret),
    ]
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await send[i % 2]?.({ event: 'other' }))?.status)
    expect(statuses).toEqual([200, 200, 200, 429])
  } finally {
    await other.close()
    await main.close()
  }
})
