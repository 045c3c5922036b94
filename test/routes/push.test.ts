import { randomUUID } from 'node:crypto'
import { sign } from '@octokit/webhooks-methods'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver, recordedDeliveries } from '../support/code-host-deliveries.ts'
import { repositoryJson } from '../support/code-host-items.ts'
import { connectedForPush } from '../support/pushed.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const connected = (id?: number) => connectedForPush(service, id)

describe('the push receiver', () => {
  test('stores a delivery with its id before it responds', async () => {
    const { webhook, opened, inbox } = await connected()
    const delivery = opened()
    const deliveryId = randomUUID()
    const { status, body } = await deliver(webhook, delivery, { deliveryId })
    expect([status, body]).toEqual([202, { accepted: true, duplicate: false, reason: null }])
    const [row] = await inbox()
    expect(row).toMatchObject({ sender_id: deliveryId, event: 'issues', action: 'opened', number: 1 })
    expect(JSON.parse(row.payload)).toMatchObject({ issue: { title: 'Item 1' } })
  })

  test('ignores a redelivery, also while the first one arrives', async () => {
    const { webhook, opened, inbox } = await connected()
    const delivery = opened()
    const deliveryId = randomUUID()
    const send = () => deliver(webhook, delivery, { deliveryId })
    const responses = [...(await Promise.all([send(), send(), send()])), await send()]
    expect(responses.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect(responses.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect(await inbox()).toHaveLength(1)
  })

  test.each<[string, Record<string, string | undefined>, string]>([
    ['without a signature', { 'x-hub-signature-256': undefined }, 'missing_credentials'],
    ['with another signature', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }, 'invalid_credentials'],
    ['with a malformed signature', { 'x-hub-signature-256': 'sha256=short' }, 'invalid_credentials'],
    [
      'with the old kind of signature',
      { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=0' },
      'missing_credentials',
    ],
  ])('rejects a delivery %s and stores nothing', async (_, headers, code) => {
    const { webhook, opened, inbox } = await connected()
    const { status, body } = await deliver(webhook, opened(), { headers })
    expect([status, body.code]).toEqual([401, code])
    expect(await inbox()).toEqual([])
  })

  test.each(['00000000-0000-7000-8000-000000000000', 'x', '%00'])(
    'rejects a delivery to the unknown connection %s like one with a wrong signature',
    async (id) => {
      const { webhook, opened } = await connected()
      const wrong = await deliver({ ...webhook, secret: 'x' }, opened())
      const unknown = await deliver({ ...webhook, url: `${service.url}/in/codehost/${id}` }, opened())
      expect([unknown.status, unknown.body.code]).toEqual([401, 'invalid_credentials'])
      expect(unknown.body.detail).toBe(wrong.body.detail)
    },
  )

  test('rejects the signature of another connection', async () => {
    const [one, other] = [await connected(), await connected()]
    const { status } = await deliver({ ...one.webhook, secret: other.webhook.secret }, one.opened())
    expect(status).toBe(401)
  })

  test('rejects a body that was changed on the way', async () => {
    const { webhook, opened } = await connected()
    const signature = await sign(webhook.secret, JSON.stringify({ action: 'opened' }))
    expect((await deliver(webhook, opened(), { headers: { 'x-hub-signature-256': signature } })).status).toBe(
      401,
    )
  })

  test('accepts the new secret and each one before it, and those for a day only', async () => {
    const { path, webhook, opened } = await connected()
    const renewed = async () => (await service.post(`${path}/webhook-secret`)).body.secret
    const secrets = [webhook.secret, await renewed(), await renewed()]
    const statuses = () =>
      Promise.all(secrets.map(async (secret) => (await deliver({ ...webhook, secret }, opened())).status))
    expect(await statuses()).toEqual([202, 202, 202])
    await service.query(
      `update codehost_connections set previous_webhook_secrets = jsonb_set(previous_webhook_secrets, '{1,until}', to_jsonb(now()))`,
    )
    expect(await statuses()).toEqual([401, 202, 202])
    await renewed()
    const [{ kept }] = await service.query(
      'select jsonb_array_length(previous_webhook_secrets) as kept from codehost_connections where id = $1',
      [webhook.url.split('/').at(-1)],
    )
    expect(kept).toBe(2)
  })

  test('keeps ten secrets that were replaced, and makes no other one until the oldest has ended', async () => {
    const { path, webhook, opened } = await connected()
    for (let i = 0; i < 10; i++) expect((await service.post(`${path}/webhook-secret`)).status).toBe(200)
    const { status, body } = await service.post(`${path}/webhook-secret`)
    expect([status, body.code]).toEqual([409, 'too_many_secrets'])
    expect((await deliver(webhook, opened())).status).toBe(202)
  })

  test('rejects deliveries after the repository was disconnected', async () => {
    const { path, webhook, opened, inbox } = await connected()
    expect((await deliver(webhook, opened())).status).toBe(202)
    await service.delete(path)
    expect((await deliver(webhook, opened())).status).toBe(401)
    expect(await inbox()).toEqual([])
  })

  test.each([
    ['truncated', '{"action":"opened","issue":{"number":1'],
    ['empty', ' '],
    ['not UTF-8 in a member', '{"action":"\\ud800"}'],
  ])('responds to a signed body that is %s', async (name, text) => {
    const { webhook, inbox } = await connected()
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'x-hub-signature-256': await sign(webhook.secret, text),
        'x-github-event': 'issues',
        'x-github-delivery': randomUUID(),
      },
      body: text,
    })
    const body = (await response.json()) as { code?: string; reason?: string }
    const forged = await fetch(webhook.url, {
      method: 'POST',
      headers: { 'x-hub-signature-256': await sign('another secret', text) },
      body: text,
    })
    expect(forged.status).toBe(401)
    if (name.startsWith('not')) expect([response.status, body.reason]).toEqual([202, 'other_repository'])
    else {
      expect([response.status, body.code]).toEqual([400, 'invalid_json'])
      expect(await inbox()).toEqual([])
    }
  })

  test.each<[string, Record<string, string | undefined>]>([
    ['required', { 'x-github-event': undefined }],
    ['required', { 'x-github-delivery': undefined }],
    ['wrong_format', { 'x-github-delivery': 'x'.repeat(101) }],
    ['wrong_format', { 'x-github-event': 'a b' }],
  ])('names a header that is %s: %j', async (code, headers) => {
    const { webhook, opened } = await connected()
    const { status, body } = await deliver(webhook, opened(), { headers })
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toEqual([
      expect.objectContaining({ path: `header.${Object.keys(headers)[0]}`, code }),
    ])
  })

  test('ignores other events and other repositories, and keeps no payload of them', async () => {
    const { webhook, repository, opened, inbox } = await connected()
    const other = repositoryJson(service.host.url, { ...repository, name: 'acme/x', isPrivate: false, id: 5 })
    const responses = [
      await deliver(webhook, { ...opened(), event: 'push' }),
      await deliver(webhook, { event: 'issues', payload: { action: 'opened', repository: other } }),
      await deliver(webhook, { event: 'issues', payload: { action: 'opened' } }),
      await deliver(webhook, { event: 'constructor', payload: {} }),
    ]
    expect(responses.map(({ status, body }) => [status, body.accepted, body.reason])).toEqual([
      [202, false, 'event_ignored'],
      [202, false, 'other_repository'],
      [202, false, 'other_repository'],
      [202, false, 'event_ignored'],
    ])
    for (const row of await inbox()) expect(row).toMatchObject({ outcome: 'ignored', payload: null })
  })

  test('accepts every recorded delivery of its events', async () => {
    const byRepository = Map.groupBy(recordedDeliveries(), ({ payload }) => repositoryOf(payload))
    let count = 0
    for (const [id, deliveries] of byRepository) {
      const { webhook, inbox } = await connected(id ?? 1)
      for (const delivery of deliveries) {
        const { status, body } = await deliver(webhook, delivery)
        expect([status, body.reason]).toEqual([
          202,
          delivery.event === 'issue_comment' ? 'comments_off' : null,
        ])
      }
      const rows = await inbox()
      expect(rows.map(({ event }) => event)).toEqual(deliveries.map(({ event }) => event))
      for (const row of rows) {
        expect(row.payload).not.toBeNull()
        if (['issues', 'pull_request'].includes(row.event)) expect(row.number).toBeGreaterThan(0)
      }
      count += rows.length
    }
    expect(count).toBe(84)
  })
})

const repositoryOf = (payload: object) => (payload as { repository?: { id: number } }).repository?.id
