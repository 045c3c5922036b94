import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())
afterEach(() => service.query('delete from webhook_secrets'))

const works = (secret: string) => service.service.access.isWebhookSecret(secret)

describe('webhook secrets', () => {
  test('are shown once and never listed', async () => {
    const made = await service.post('/api/webhook-secrets')
    expect(made.status).toBe(201)
    expect(made.body.secret).toMatch(/^inlw_[\w-]{43}$/)
    expect(await works(made.body.secret)).toBe(true)

    const { secret, ...shown } = made.body
    const listed = await service.get('/api/webhook-secrets')
    expect(listed.body.data).toEqual([{ ...shown, lastUsedAt: null }])
    expect(listed.body.nextCursor).toBeNull()
    expect(secret.endsWith(shown.lastFour)).toBe(true)
  })

  test('are listed with the receiver settings of the environment', async () => {
    const receiverOf = async (app: TestApp) => (await app.get('/api/webhook-secrets')).body.receiver
    expect(await receiverOf(service)).toEqual({ baseUrl: null, port: null, hasEnvironmentSecret: false })
    const env = {
      PUBLIC_URL: 'https://inlet.example/',
      WEBHOOK_PORT: '3001',
      WEBHOOK_SECRET: 'a-secret-of-the-environment-0123456789',
    }
    const other = await startApp({ connectionString: service.connectionString, env })
    expect(await receiverOf(other)).toEqual({
      baseUrl: 'https://inlet.example',
      port: 3001,
      hasEnvironmentSecret: true,
    })
    await other.close()
  })

  test('are at most two, also in concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => service.post('/api/webhook-secrets')))
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409])
    expect(responses.find(({ status }) => status === 409)?.body.code).toBe('too_many_secrets')
  })

  test('overlap when rotated, and a rotation without overlap ends the previous one', async () => {
    const first = (await service.post('/api/webhook-secrets')).body
    const second = (await service.post(`/api/webhook-secrets/${first.id}/rotate`, { overlapSeconds: 60 }))
      .body
    expect(second.id).not.toBe(first.id)
    expect([await works(first.secret), await works(second.secret)]).toEqual([true, true])

    expect((await service.post(`/api/webhook-secrets/${second.id}/rotate`)).body.code).toBe(
      'too_many_secrets',
    )
    const third = (await service.post(`/api/webhook-secrets/${second.id}/rotate`, { overlapSeconds: 0 })).body
    expect([await works(second.secret), await works(third.secret)]).toEqual([false, true])
  })

  test('end at once when revoked', async () => {
    const made = (await service.post('/api/webhook-secrets')).body
    expect(await works(made.secret)).toBe(true)
    expect((await service.delete(`/api/webhook-secrets/${made.id}`)).status).toBe(204)
    expect(await works(made.secret)).toBe(false)
    expect((await service.delete(`/api/webhook-secrets/${made.id}`)).body.code).toBe(
      'webhook_secret_not_found',
    )
    expect((await service.post(`/api/webhook-secrets/${made.id}/rotate`)).status).toBe(404)
  })
})
