import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { NewSource, SourceWithSecret } from '../../src/schemas/source.ts'
import type { TestApp } from './app.ts'

/** A source made for a test, and what sends to it. */
export interface SentSource {
  source: SourceWithSecret
  send(payload: unknown, options?: SendOptions): ReturnType<typeof post>
}

interface SendOptions {
  /** The same id is a repeat. */
  id?: string | undefined
  /** Signs with another secret. */
  secret?: string
  /** When it was signed. */
  at?: Date
  /** Replace those of a valid delivery; undefined omits one. */
  headers?: Record<string, string | undefined>
}

type Given = Partial<Omit<NewSource, 'template'>> & {
  /** Null for a source without templates. */
  template?: Partial<NewSource['template']> | null
}

/** Creates a source of a new project, by default one whose sender signs as Standard Webhooks says. */
export async function sourceOf(service: TestApp, given: Given = {}): Promise<SentSource> {
  const projectId = given.projectId ?? (await service.given.project()).id
  const { status, body } = await service.post('/api/sources', {
    name: 'Forms',
    verify: { scheme: 'standard_webhooks' },
    ...given,
    projectId,
    template: given.template === null ? null : { title: '{{ item.title }}', ...given.template },
  })
  if (status !== 201) throw new Error(`The source was not created: ${JSON.stringify(body)}`)
  return { source: body, send: (payload, options) => deliver(service, { source: body, payload, ...options }) }
}

/** Fills every field of a task from the members of an item. */
export const FORM_TEMPLATE = {
  title: '{{ item.title }}',
  description: '{{ item.text }}',
  priority: '{{ item.priority }}',
  labels: 'forms, {{ item.labels | join: "," }}',
  externalId: '{{ item.id }}',
  externalUrl: '{{ item.url }}',
  status: '{{ item.state }}',
}

/** The deliveries of a source, oldest first. */
export const inboxOf = (service: TestApp, { source }: Pick<SentSource, 'source'>) =>
  service.query('select * from deliveries where source_id = $1 order by id', [source.id])

/** Sends a delivery as the source expects it. */
export async function deliver(
  service: Pick<TestApp, 'url'>,
  { source, payload, id, at = new Date(), secret = source.secret, headers = {} }: Delivery,
) {
  const body = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload : JSON.stringify(payload)
  const { pathname } = new URL(source.url)
  const signed = signatureOf(source, { body, secret, at, id })
  const sent = { 'content-type': 'application/json', ...signed, ...(id && { 'webhook-id': id }), ...headers }
  return post(service.url + pathname, { headers: sent, body })
}

interface Delivery extends SendOptions {
  source: SourceWithSecret
  payload: unknown
}

let messages = 0

function signatureOf(
  { verify: { scheme, header, prefix } }: SourceWithSecret,
  {
    body,
    secret,
    at,
    id = `msg_${++messages}`,
  }: SendOptions & { body: string | Buffer; secret: string; at: Date },
): Record<string, string> {
  if (scheme === 'bearer') return { authorization: `Bearer ${secret}` }
  if (scheme === 'token') return { [`${header}`]: `${prefix ?? ''}${secret}` }
  if (scheme === 'hmac_sha256_hex') {
    return { [`${header}`]: `${prefix ?? ''}${createHmac('sha256', secret).update(body).digest('hex')}` }
  }
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}

async function post(
  url: string,
  { headers, body }: { headers: Record<string, string | undefined>; body: string | Buffer },
) {
  const present = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(present), body })
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}
