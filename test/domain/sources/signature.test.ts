import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { hashOf } from '../../../src/domain/secret.ts'
import {
  credentialsIn,
  deliveryIdIn,
  isSecretOf,
  isSignedBy,
  isStandardSecret,
} from '../../../src/domain/sources/signature.ts'

/*
 * The cases of the library's own tests: standard-webhooks/standard-webhooks,
 * libraries/javascript/src/webhook.test.ts.
 */
const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const BODY = '{"test": 2432232314}'
const TOLERANCE_MS = 5 * 60_000

const verification = { scheme: 'standard_webhooks', header: null, prefix: null } as const

interface Sent {
  at?: Date
  headers?: Record<string, string | undefined>
  body?: string
  secrets?: string[]
}

/** Whether a message is accepted now. */
function isAccepted({ at = new Date(), headers = {}, body = BODY, secrets = [SECRET] }: Sent = {}): boolean {
  const signed = {
    'webhook-id': ID,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(SECRET).sign(ID, at, BODY),
    ...headers,
  }
  const credentials = credentialsIn(signed, { verification, now: new Date() })
  return (
    credentials !== undefined &&
    credentials.kind !== 'secret' &&
    isSignedBy(credentials, { body: Buffer.from(body), secrets })
  )
}

describe('Standard Webhooks', () => {
  test('accepts what the library signs, with and without the prefix of the secret', () => {
    expect(isAccepted()).toBe(true)
    expect(isAccepted({ secrets: [`whsec_${SECRET}`] })).toBe(true)
  })

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('needs the header %s', (name) => {
    expect(isAccepted({ headers: { [name]: undefined } })).toBe(false)
    expect(isAccepted({ headers: { [name]: '' } })).toBe(false)
  })

  test.each(['NaN', '-1', '1e9', '0x1', ' ', '9'.repeat(13)])(
    'needs a timestamp in digits, also where it is signed: %s',
    (timestamp) => {
      const key = Buffer.from(SECRET, 'base64')
      const signature = createHmac('sha256', key).update(`${ID}.${timestamp}.${BODY}`).digest('base64')
      const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
      expect(isAccepted({ headers })).toBe(false)
    },
  )

  test('accepts the names that Svix has for the headers, but no mixture', () => {
    const at = new Date()
    const svix = {
      'svix-id': ID,
      'svix-timestamp': `${Math.floor(at.getTime() / 1000)}`,
      'svix-signature': new Webhook(SECRET).sign(ID, at, BODY),
    }
    const without = {
      'webhook-id': undefined,
      'webhook-timestamp': undefined,
      'webhook-signature': undefined,
    }
    expect(isAccepted({ headers: { ...svix, ...without } })).toBe(true)
    expect(deliveryIdIn(svix, 'standard_webhooks')).toBe(ID)
    for (const name of Object.keys(without))
      expect(isAccepted({ headers: { ...svix, [name]: undefined } })).toBe(name === 'webhook-signature')
  })

  test('computes the signature of the reference', () => {
    const at = new Date(1_614_265_330_000)
    const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    const headers = { 'webhook-id': ID, 'webhook-timestamp': '1614265330', 'webhook-signature': signature }
    const credentials = credentialsIn(headers, { verification, now: at })
    expect(credentials?.kind).toBe('standard')
    if (credentials?.kind !== 'standard') return
    expect(isSignedBy(credentials, { body: Buffer.from(BODY), secrets: [`whsec_${SECRET}`] })).toBe(true)
  })

  test.each([
    ['another signature', 'v1,dawfeoifkpqwoekfpqoekf'],
    ['a signature without its version', 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ['an empty signature', 'v1,'],
    ['a part of the signature', 'v1,g0hM9'],
    ['another version', 'v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
  ])('rejects %s', (_, signature) => {
    expect(isAccepted({ headers: { 'webhook-signature': signature } })).toBe(false)
  })

  test('rejects another body, another ID, and another secret', () => {
    expect(isAccepted({ body: '{"test": 1}' })).toBe(false)
    expect(isAccepted({ headers: { 'webhook-id': 'msg_2' } })).toBe(false)
    expect(isAccepted({ secrets: ['c2VjcmV0LW9mLWEtcm90YXRlZC1lbmRwb2ludA=='] })).toBe(false)
  })

  test('accepts one of several signatures, and one of two secrets', () => {
    const at = new Date()
    const other = 'c2VjcmV0LW9mLWEtcm90YXRlZC1lbmRwb2ludA=='
    const signatures = [
      'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=',
      'v2,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=',
      new Webhook(SECRET).sign(ID, at, BODY),
    ]
    expect(isAccepted({ at, headers: { 'webhook-signature': signatures.join(' ') } })).toBe(true)
    expect(isAccepted({ at, secrets: [other, SECRET] })).toBe(true)
  })

  test('rejects a timestamp that is more than five minutes off, and one that is none', () => {
    const ago = (ms: number) => ({ at: new Date(Date.now() - ms) })
    expect(isAccepted(ago(TOLERANCE_MS - 2_000))).toBe(true)
    expect(isAccepted(ago(TOLERANCE_MS + 2_000))).toBe(false)
    expect(isAccepted(ago(-TOLERANCE_MS - 2_000))).toBe(false)
    expect(isAccepted(ago(86_400_000))).toBe(false)
    expect(isAccepted({ headers: { 'webhook-timestamp': 'hello' } })).toBe(false)
  })
})

test('a secret of Standard Webhooks is Base64', () => {
  expect([SECRET, `whsec_${SECRET}`].every(isStandardSecret)).toBe(true)
  expect(['', 'whsec_', 'short', 'not base64 at all!', `whsec_${SECRET}-`].some(isStandardSecret)).toBe(false)
})

describe('a prefix', () => {
  const signature = createHmac('sha256', SECRET).update(BODY).digest('hex')
  const isHmacAccepted = (value: string, prefix: string | null) => {
    const credentials = credentialsIn(
      { 'x-signature': value },
      { verification: { scheme: 'hmac_sha256_hex', header: 'X-Signature', prefix }, now: new Date() },
    )
    return (
      credentials?.kind === 'hmac' && isSignedBy(credentials, { body: Buffer.from(BODY), secrets: [SECRET] })
    )
  }

  test.each<[string, string, string | null, boolean]>([
    ['is required where the source declares one', signature, 'sha256=', false],
    ['is accepted where the source declares it', `sha256=${signature}`, 'sha256=', true],
    ['must be the one that the source declares', `sha512=${signature}`, 'sha256=', false],
    ['is refused where the source declares none', `sha256=${signature}`, null, false],
  ])('%s', (_, value, prefix, expected) => {
    expect(isHmacAccepted(value, prefix)).toBe(expected)
  })

  test.each<[string, boolean]>([
    [SECRET, false],
    [`Key ${SECRET}`, true],
  ])('of a token is required where the source declares one: %s', (value, expected) => {
    const verification = { scheme: 'token', header: 'X-Token', prefix: 'Key ' } as const
    const credentials = credentialsIn({ 'x-token': value }, { verification, now: new Date() })
    expect(credentials?.kind === 'secret' && isSecretOf(credentials.text, [hashOf(SECRET)])).toBe(expected)
  })
})
