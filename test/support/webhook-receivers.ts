import { once } from 'node:events'
import type { createServer as createHttpServer, Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { webhookReceiver } from '../../src/clients/webhook-receiver.ts'
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts'

export type Handler = Parameters<typeof createHttpServer>[1]

/** Until the test ends. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export const https = (handler: Handler) => createHttpsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, handler)

/** Closed when the test ends. */
export function client(options: Partial<Parameters<typeof webhookReceiver>[0]> = {}) {
  const receiver = webhookReceiver({ allowHosts: [], ca: CERTIFICATE, timeoutMs: 1_000, ...options })
  onTestFinished(receiver.close)
  return receiver
}

const { signal } = new AbortController()
export const post = (receiver: ReturnType<typeof client>, url: string, body = '{"a":"ä"}') =>
  receiver.post({ url, headers: { 'content-type': 'application/json' }, body, signal })
