import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender, startReceiver } from '../support/feedback.ts'

let service: TestApp
beforeAll(async () => {
  ;({ service } = await startReceiver())
})
afterAll(() => service.close())

describe('the receiver', () => {
  const post = (headers: Record<string, string>, body = '{"broken') =>
    service.call('POST', '/api/analytics/webhook', { key: null, headers, body })

  test.each<[string, Record<string, string>, string]>([
    ['nothing', {}, 'missing_credentials'],
    ['an API key', { 'x-api-key': 'x'.repeat(40) }, 'missing_credentials'],
    ['another scheme', { authorization: 'Basic c2VjcmV0' }, 'missing_credentials'],
    ['no secret', { authorization: 'Bearer ' }, 'missing_credentials'],
    ['a wrong secret', { authorization: 'Bearer wrong' }, 'invalid_credentials'],
    ['half of the secret', { authorization: 'Bearer secret-of-the' }, 'invalid_credentials'],
  ])('rejects %s before it validates the body', async (_, headers, code) => {
    for (const body of ['{"broken', JSON.stringify(feedback()), 'x'.repeat(3 * 1024 * 1024)]) {
      const response = await post(headers, body)
      expect([response.status, response.body.code]).toEqual([401, code])
      expect(response.headers.get('www-authenticate')).toBe('ApiKey')
    }
  })

  test('accepts every active secret, in any case of the scheme, and no revoked one', async () => {
    const made = (await service.post('/api/webhook-secrets')).body
    const next = (await service.post(`/api/webhook-secrets/${made.id}/rotate`, { overlapSeconds: 60 })).body
    for (const secret of ['secret-of-the-environment', made.secret, next.secret]) {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const response = await post({ authorization: `${scheme} ${secret}` }, JSON.stringify(feedback()))
        expect(response.status).toBe(201)
      }
    }
    await service.delete(`/api/webhook-secrets/${next.id}`)
    expect((await post({ authorization: `Bearer ${next.secret}` })).status).toBe(401)
    expect((await post({ authorization: `Bearer ${made.secret}` })).status).toBe(400)
  })

  test('limits guessed secrets, accepts valid ones, and applies its own limit per minute', async () => {
    const limited = await startApp({
      connectionString: service.connectionString,
      env: {
        WEBHOOK_SECRET: 'right-secret-of-the-test',
        RATE_LIMIT_FAILURES_PER_MINUTE: '3',
        RATE_LIMIT_RECEIVER_PER_MINUTE: '5',
      },
    })
    try {
      const statuses = async (secret: string, count: number) => {
        const found: number[] = []
        for (let n = 0; n < count; n++)
          found.push((await sender(limited.url, secret)({ event: 'other' })).status)
        return found
      }
      expect(await statuses('wrong', 5)).toEqual([401, 401, 401, 429, 429])
      expect(await statuses('right-secret-of-the-test', 6)).toEqual([200, 200, 200, 200, 200, 429])
      const response = await sender(limited.url, 'right-secret-of-the-test')({ event: 'other' })
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    } finally {
      await limited.close()
    }
  })
})
