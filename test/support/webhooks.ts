import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import type { NewWebhook, WebhookDelivery, WebhookWithSecret } from '../../src/schemas/webhook.ts'
import type { TestApp } from './app.ts'

/** What an app needs to send to receivers of tests. */
export const SENDING_ENV = { ENCRYPTION_KEY: 'ab'.repeat(32), WEBHOOK_ALLOW_HOSTS: '127.0.0.1' }

/** A request that a receiver got, while it was connected and whole. */
export interface Received {
  headers: IncomingHttpHeaders
  path: string
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a delivery.
  body: any
  at: number
}

type Respond = (response: ServerResponse, received: Received) => void

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A receiver of webhooks on this machine. It responds with 204 until `respond` says otherwise. */
export async function startReceiver() {
  const received: Received[] = []
  let respond: Respond = (response) => response.writeHead(204).end()
  let current = 0
  let maxConcurrent = 0
  const server = createServer(async (request, response) => {
    current++
    maxConcurrent = Math.max(maxConcurrent, current)
    response.once('close', () => current--)
    const text = await textOf(request).catch(() => undefined)
    if (text === undefined) return
    const one = {
      headers: request.headers,
      path: request.url ?? '',
      text,
      body: JSON.parse(text),
      at: Date.now(),
    }
    received.push(one)
    respond(response, one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    maxConcurrent: () => maxConcurrent,
    respond(given: Respond): void {
      respond = given
    },
    respondWith(status: number, headers: Record<string, string> = {}): void {
      respond = (response) => response.writeHead(status, headers).end()
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Creates a webhook. */
export async function webhookTo(app: TestApp, input: Partial<NewWebhook> & { url: string }) {
  const { status, body } = await app.post('/api/webhooks', { name: 'A receiver', ...input })
  if (status !== 201) throw new Error(`The webhook was not created: ${JSON.stringify(body)}`)
  return body as WebhookWithSecret
}

/** Writes and sends what is due, as the background worker does. */
export async function deliverDue({ service: { webhookQueue } }: TestApp): Promise<void> {
  webhookQueue.wake()
  while (await webhookQueue.writeDeliveries());
  await webhookQueue.startSending(new AbortController().signal)
  await webhookQueue.whenSent()
}

/** The deliveries of a webhook, oldest first. */
export async function deliveriesOf(
  app: TestApp,
  { id }: { id: string },
  query = '',
): Promise<WebhookDelivery[]> {
  const { status, body } = await app.get(`/api/webhooks/${id}/deliveries?limit=200${query}`)
  expect(status).toBe(200)
  return body.data.toReversed()
}

/** Verifies a delivery with the official library; throws if it is not signed with this secret. */
export function verify({ text, headers }: Received, secret: string): unknown {
  return new Webhook(secret).verify(text, headers as Record<string, string>)
}
