import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { sign } from '@octokit/webhooks-methods'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver } from '../support/code-host-deliveries.ts'
import { connectedForPush } from '../support/pushed.ts'
import { sendRaw } from '../support/raw.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const connected = (id?: number) => connectedForPush(service, id)

describe('the push receiver', () => {
  test('decides by the headers before the body arrives', async () => {
    const { webhook } = await connected()
    const { hostname, port, pathname } = new URL(webhook.url)
    const head = (path: string, signature: string) =>
      [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 26000000', signature, '', ''].join('\r\n')
    expect(await firstLine(head(pathname, 'X-Other: 1'))).toContain(' 401 ')
    expect(
      await firstLine(head('/in/codehost/x', `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`)),
    ).toContain(' 401 ')

    function firstLine(text: string): Promise<string> {
      return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(text))
        socket.on('error', reject).once('data', (data) => {
          resolve(String(data).split('\r\n')[0] ?? '')
          socket.destroy()
        })
      })
    }
  })

  test('reads a delivery that is sent as a form, the default of the code host', async () => {
    const { webhook, opened, inbox } = await connected()
    const { event, payload } = opened()
    const form = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-hub-signature-256': await sign(webhook.secret, form),
        'x-github-event': event,
        'x-github-delivery': randomUUID(),
      },
      body: form,
    })
    expect([response.status, await response.json()]).toMatchObject([202, { accepted: true }])
    const [row] = await inbox()
    expect(JSON.parse(row.payload.toString())).toMatchObject({ action: 'opened' })
  })

  test('reads a delivery of 3.9 MiB, and rejects one above 4', async () => {
    const { webhook, opened, inbox } = await connected()
    const { event, payload } = opened()
    const padded = (mib: number) => ({
      event,
      payload: { ...payload, padding: 'x'.repeat(mib * 1024 * 1024) },
    })
    expect((await deliver(webhook, padded(3.9))).status).toBe(202)
    const large = await sendRaw(service.url, {
      method: 'POST',
      path: new URL(webhook.url).pathname,
      headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'x-github-event': 'issues' },
      body: Buffer.alloc(4 * 1024 * 1024 + 1),
    })
    expect([large.status, large.body.code]).toEqual([413, 'body_too_large'])
    expect((await inbox()).map((row) => row.number)).toEqual([1])
  })

  test('ignores other events by their header, however large they are', async () => {
    const { webhook, inbox } = await connected()
    const signature = `sha256=${'0'.repeat(64)}`
    const sent = (path: string) =>
      sendRaw(service.url, {
        method: 'POST',
        path,
        headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push' },
        body: Buffer.alloc(20 * 1024 * 1024),
      })
    const ignored = await sent(new URL(webhook.url).pathname)
    expect([ignored.status, ignored.body]).toEqual([
      202,
      { accepted: false, duplicate: false, reason: 'event_ignored' },
    ])
    expect((await sent(`/in/codehost/${randomUUID()}`)).status).toBe(401)
    expect(await inbox()).toEqual([])
  })

  test('rejects a delivery with more values than any of the code host', async () => {
    const { webhook, opened, inbox } = await connected()
    const { event, payload } = opened()
    const large = { event, payload: { ...payload, many: Array(20_000).fill(1) } }
    const { status, body } = await deliver(webhook, large)
    expect([status, body.errors]).toEqual([
      400,
      [expect.objectContaining({ path: '/many', code: 'too_many' })],
    ])
    expect(await inbox()).toEqual([])
  })
})
