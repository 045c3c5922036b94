import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { good: {} } })
})
afterAll(() => service.close())

let repositories = 0
async function connect(app = service, body: object = {}) {
  const repository = app.host.repository(`acme/hooked-${++repositories}`)
  const project = await app.given.project()
  const path = `/api/projects/${project.id}/codehost`
  const { status, body: connection } = await app.put(path, { repository: repository.name, ...body })
  return { status, connection, path }
}

describe('the webhook of a connection', () => {
  test('has a URL and a secret that is returned once, when the repository is connected', async () => {
    const { connection, path } = await connect()
    expect(connection.webhook).toEqual({
      url: `${service.url}/in/codehost/${connection.id}`,
      hasSecret: true,
      lastDeliveryAt: null,
      secret: expect.stringMatching(/^inlw_[\w-]{43}$/),
    })
    const { repository } = connection
    for (const response of [await service.get(path), await service.put(path, { repository })]) {
      expect(response.body.webhook).toEqual({
        url: connection.webhook.url,
        hasSecret: true,
        lastDeliveryAt: null,
      })
    }
  })

  test('gets another secret when another repository is connected', async () => {
    const { connection, path } = await connect()
    const other = service.host.repository('acme/other')
    const { body } = await service.put(path, { repository: other.name })
    expect(body.webhook.secret).toMatch(/^inlw_/)
    expect(body.webhook.secret).not.toBe(connection.webhook.secret)
    expect(body.id).not.toBe(connection.id)
  })

  test('gets a new secret on request, and says until when the previous one works', async () => {
    const { connection, path } = await connect()
    const { status, body } = await service.post(`${path}/webhook-secret`)
    expect(status).toBe(200)
    expect(body).toEqual({
      url: connection.webhook.url,
      secret: expect.stringMatching(/^inlw_/),
      previousExpiresAt: expect.any(String),
    })
    expect(body.secret).not.toBe(connection.webhook.secret)
    const leftMs = Date.parse(body.previousExpiresAt) - Date.now()
    expect(leftMs).toBeGreaterThan(86_000_000)
    expect(leftMs).toBeLessThanOrEqual(86_400_000)
    const { projectId } = connection
    const { body: log } = await service.get(`/api/activity?projectId=${projectId}`)
    expect(log.data[0]).toMatchObject({
      type: 'connection.webhook_secret_created',
      metadata: { connectionId: connection.id },
    })
    expect(JSON.stringify(log)).not.toContain('inlw_')
  })

  test('gets its first secret on request if the connection is older than webhooks', async () => {
    const { connection, path } = await connect()
    await service.query('update codehost_connections set webhook_secret = null where id = $1', [
      connection.id,
    ])
    expect((await service.get(path)).body.webhook.hasSecret).toBe(false)
    const { body } = await service.post(`${path}/webhook-secret`)
    expect(body).toMatchObject({ secret: expect.stringMatching(/^inlw_/), previousExpiresAt: null })
    expect((await service.get(path)).body.webhook.hasSecret).toBe(true)
  })

  test.each([
    ['without a connection', '/codehost/webhook-secret', 404, 'connection_not_found'],
    ['with an Idempotency-Key', '/codehost/webhook-secret', 400, 'idempotency_not_supported'],
  ])('gets no secret %s', async (given, path, status, code) => {
    const project = await service.given.project()
    const headers = given.includes('Idempotency') ? { 'idempotency-key': 'x' } : {}
    const response = await service.post(`/api/projects/${project.id}${path}`, undefined, { headers })
    expect([response.status, response.body.code]).toEqual([status, code])
  })

  test('has the address in PUBLIC_URL', async () => {
    const app = await startSyncing({ env: { PUBLIC_URL: 'https://inlet.example/' } })
    const { connection } = await connect(app)
    expect(connection.webhook.url).toBe(`https://inlet.example/in/codehost/${connection.id}`)
    await app.close()
  })

  test('has no secret without an encryption key, and the connection works without', async () => {
    const app = await startSyncing({ env: { ENCRYPTION_KEY: '' } })
    const { status, connection, path } = await connect(app)
    expect([status, connection.webhook]).toEqual([
      200,
      { url: expect.any(String), hasSecret: false, lastDeliveryAt: null },
    ])
    const response = await app.post(`${path}/webhook-secret`)
    expect([response.status, response.body.code]).toEqual([422, 'encryption_key_missing'])
    expect(response.body.detail).toContain('openssl rand')
    await app.close()
  })
})
