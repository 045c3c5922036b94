import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiResponse, startApp, type TestApp, type TestAppOptions } from './app.ts'
import { deliveriesOf } from './deliveries.ts'

/** The secret of the environment in `startReceiver`. */
export const WEBHOOK_SECRET = 'secret-of-the-environment'

/** The service with a webhook secret, and a function that sends events to it. */
export async function startReceiver(options: TestAppOptions = {}) {
  const service = await startApp({ ...options, env: { ...options.env, WEBHOOK_SECRET } })
  return { service, send: sender(service.url, WEBHOOK_SECRET) }
}

/** An event as the receiver takes it, each another one. */
export function feedback(properties: object = {}, others: object = {}) {
  return {
    uuid: randomUUID(),
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    timestamp: '2026-11-21T08:15:30.000Z',
    properties: { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1', ...properties },
    ...others,
  }
}

/** The newest delivery with an outcome. */
export const newestEvent = async (service: Pick<TestApp, 'get'>, outcome: string) =>
  (await deliveriesOf(service, `receiver=feedback&limit=1&outcome=${outcome}`))[0]

/** What stores an event, as the receiver does. */
export function storing({ service }: Pick<TestApp, 'service'>, event: object) {
  return service.receivers.feedback({ id: null }, { bytes: Buffer.from(JSON.stringify(event)), headers: {} })
}

/** Sends to a receiver with a secret. */
export function sender(url: string, secret: string) {
  return async (body: unknown): Promise<ApiResponse> => {
    const response = await fetch(`${url}/api/analytics/webhook`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
}

const MAX_SENDINGS = 5

/** Retries after a 503 with the delay of its Retry-After. */
export async function untilAvailable(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (let sendings = 1; ; sendings++) {
    const response = await send()
    if (response.status !== 503 || sendings === MAX_SENDINGS) return response
    await sleep(Number(response.headers.get('retry-after')) * 1_000)
  }
}
