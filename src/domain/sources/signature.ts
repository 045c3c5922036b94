import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { VerifyScheme } from '../../schemas/source.ts'
import { hashOf } from '../secret.ts'

/** How the deliveries of a source are verified. */
export interface Verification {
  scheme: VerifyScheme
  header: string | null
  prefix: string | null
}

/** What the headers of a delivery have to verify it. */
export type SentCredentials =
  /** The secret itself. */
  | { kind: 'secret'; text: string }
  /** The HMAC of the body. */
  | { kind: 'hmac'; signature: Buffer }
  /** The HMACs of id, timestamp and body, one of each secret that the sender knows. */
  | { kind: 'standard'; signed: string; signatures: Buffer[] }

/** How far the sender's clock may differ. */
const TOLERANCE_MS = 5 * 60_000
const HMAC_BYTES = 32

/** Reads what the headers have, before the body. Undefined if that cannot be valid. */
export function credentialsIn(
  headers: IncomingHttpHeaders,
  { verification: { scheme, header, prefix }, now }: { verification: Verification; now: Date },
): SentCredentials | undefined {
  if (scheme === 'standard_webhooks') return standardIn(headers, now)
  const value = scheme === 'bearer' ? headers.authorization : textIn(headers, header ?? '')
  if (!value) return undefined
  const text = withoutPrefix(value, scheme === 'bearer' ? /^Bearer +/i : prefix)
  if (text === undefined) return undefined
  if (scheme !== 'hmac_sha256_hex') return { kind: 'secret', text }
  return /^[0-9a-f]{64}$/i.test(text) ? { kind: 'hmac', signature: Buffer.from(text, 'hex') } : undefined
}

/** Standard Webhooks 1.0. */
function standardIn(headers: IncomingHttpHeaders, now: Date): SentCredentials | undefined {
  const { id, timestamp, signature } = standardHeaders(headers)
  if (!id || !timestamp || !signature) return undefined
  if (!/^\d{1,12}$/.test(timestamp)) return undefined
  if (Math.abs(Number(timestamp) * 1000 - now.getTime()) > TOLERANCE_MS) return undefined
  const signatures = signature.split(' ').flatMap((versioned) => {
    const [version, text = ''] = versioned.split(',')
    const bytes = Buffer.from(text, 'base64')
    return version === 'v1' && bytes.length === HMAC_BYTES ? [bytes] : []
  })
  return signatures.length === 0 ? undefined : { kind: 'standard', signed: `${id}.${timestamp}.`, signatures }
}

/** Svix, where Standard Webhooks is from, has names of its own for the same headers. */
function standardHeaders(headers: IncomingHttpHeaders) {
  const family = textIn(headers, 'webhook-signature') ? 'webhook' : 'svix'
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    textIn(headers, `${family}-${name}`),
  )
  return { id, timestamp, signature }
}

function withoutPrefix(value: string, prefix: string | RegExp | null): string | undefined {
  if (prefix instanceof RegExp) return prefix.test(value) ? value.replace(prefix, '').trim() : undefined
  const start = prefix ?? ''
  return value.startsWith(start) ? value.slice(start.length).trim() : undefined
}

/** Whether a secret was sent that has one of these hashes. */
export const isSecretOf = (text: string, hashes: string[]) =>
  hashes.some((known) => timingSafeEqual(Buffer.from(hashOf(text)), Buffer.from(known)))

/** Whether a body is signed with one of these secrets. Node compares in constant time. */
export function isSignedBy(
  sent: Exclude<SentCredentials, { kind: 'secret' }>,
  { body, secrets }: { body: Buffer; secrets: string[] },
): boolean {
  return secrets.some((secret) => {
    if (sent.kind === 'hmac') {
      return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), sent.signature)
    }
    const expected = createHmac('sha256', keyOf(secret)).update(sent.signed).update(body).digest()
    return sent.signatures.some((signature) => timingSafeEqual(expected, signature))
  })
}

/** The bytes of a secret of Standard Webhooks. */
export const keyOf = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** Whether a text can be a secret of Standard Webhooks. */
export const isStandardSecret = (secret: string) =>
  /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(secret) && keyOf(secret).length >= 16

/** Whether any header looks like a secret or a signature, whatever the source expects. */
export const mayHaveCredentials = (headers: IncomingHttpHeaders) =>
  Object.keys(headers).some((name) => /^authorization$|signature|token|secret/.test(name))

/**
 * The sender's id of a delivery: the same when it is sent again. Null where a signature covers the body alone: whoever
 * captured it could give it another id.
 */
export function deliveryIdIn(headers: IncomingHttpHeaders, scheme: VerifyScheme): string | null {
  if (scheme === 'hmac_sha256_hex') return null
  if (scheme === 'standard_webhooks') return standardHeaders(headers).id || null
  return textIn(headers, 'webhook-id') || textIn(headers, 'idempotency-key') || null
}

const textIn = (headers: IncomingHttpHeaders, name: string) => [headers[name.toLowerCase()]].flat().join()
