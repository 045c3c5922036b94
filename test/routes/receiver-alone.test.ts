import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildReceiver } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { routesOf } from '../support/routes.ts'

let service: TestApp
let alone: Awaited<ReturnType<typeof buildReceiver>>
let url: string
beforeAll(async () => {
  service = await startApp()
  alone = await buildReceiver({
    config: loadConfig({ WEBHOOK_SECRET: 'a-secret', WEBHOOK_PORT: '0' }),
    logger: pino({ level: 'silent' }),
    services: service.service,
  })
  url = await alone.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await alone.close()
  await service.close()
})

test('the receiver takes feedback on a port of its own', async () => {
  const event = feedback()
  const first = await sender(url, 'a-secret')(event)
  expect(first.status).toBe(201)
  expect(await sender(url, 'a-secret')(event)).toMatchObject({
    status: 200,
    body: { taskId: first.body.taskId },
  })
  expect((await sender(url, 'wrong')(event)).status).toBe(401)
  expect((await service.get(`/api/tasks/${first.body.taskId}`)).status).toBe(200)
})

test('nothing else is there, whatever key comes along', async () => {
  for (const { method, path, name } of routesOf(service.app)) {
    if (name === 'POST /api/analytics/webhook') continue
    const { status } = await fetch(url + path, { method, headers: { 'x-api-key': service.adminKey } })
    expect([name, status]).toEqual([name, 404])
  }
  expect((await fetch(`${url}/api/analytics/webhook`)).status).toBe(405)
})
