import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { type Listener, listenTo } from '../support/stream.ts'

let service: TestApp
const listeners: Listener[] = []
beforeAll(async () => {
  service = await startApp()
})
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close()
})
afterAll(() => service.close())

async function follow(key: string) {
  const listener = await listenTo(service, { key })
  listeners.push(listener)
  return listener
}

test('a key has 20 streams at a time, separate from other keys and other requests', async () => {
  const key = await service.given.key()
  for (let i = 0; i < 20; i++) expect((await follow(key)).status).toBe(200)
  const refused = await service.get('/api/stream', { key })
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await follow(await service.given.key())).status).toBe(200)
  expect((await service.get('/api/me', { key })).status).toBe(200)

  listeners.shift()?.close()
  await expect.poll(async () => (await follow(key)).status).toBe(200)
})

test('a key has 100 requests at a time, completed ones not counted', async () => {
  const key = await service.given.key()
  const lock = await service.connect()
  try {
    await lock.query('begin; lock table tasks in access exclusive mode')
    const waiting = Array.from({ length: 100 }, () => service.get('/api/tasks?limit=1', { key }))
    await expect
      .poll(async () => (await service.get('/api/me', { key })).body.code, { timeout: 5_000 })
      .toBe('rate_limited')
    await lock.query('rollback')
    await Promise.all(waiting)
    expect((await service.get('/api/me', { key })).status).toBe(200)
  } finally {
    await lock.query('rollback')
    lock.release()
  }
})
