import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { hashOf } from '../../../src/domain/secret.ts'
import {
  credentialsIn,
  isSecretOf,
  isSignedBy,
  type Verification,
} from '../../../src/domain/sources/signature.ts'

const BODY = Buffer.from('{"a":1}')
const now = new Date()

/** Whether a delivery with these headers is accepted by a source with this secret. */
function isAccepted(
  headers: Record<string, string>,
  { secret = 'a secret', ...verification }: Verification & { secret?: string },
) {
  const sent = credentialsIn(headers, { verification, now })
  if (sent === undefined) return false
  return sent.kind === 'secret'
    ? isSecretOf(sent.text, [hashOf(secret)])
    : isSignedBy(sent, { body: BODY, secrets: [secret] })
}

describe('a Bearer secret', () => {
  const bearer: Verification = { scheme: 'bearer', header: null, prefix: null }

  test.each(['Bearer a secret', 'bearer  a secret '])('is accepted: %j', (authorization) => {
    expect(isAccepted({ authorization }, bearer)).toBe(true)
  })

  test.each([
    'a secret',
    'Basic a secret',
    'xBearer a secret',
    'Bearer other',
    'Bearer a secret2',
    'Bearer',
    '',
  ])('is refused: %j', (authorization) => {
    expect(isAccepted({ authorization }, bearer)).toBe(false)
  })
})

describe('a token', () => {
  const token = (prefix: string | null): Verification => ({ scheme: 'token', header: 'X-Token', prefix })

  test('is read from its header, after its prefix', () => {
    expect(isAccepted({ 'x-token': 'a secret' }, token(null))).toBe(true)
    expect(isAccepted({ 'x-token': 'Token a secret' }, token('Token '))).toBe(true)
  })

  test.each(['a secret', 'xToken a secret', 'token a secret', 'Token', 'Token Token a secret', ''])(
    'needs its prefix at the start: %j',
    (sent) => {
      expect(isAccepted({ 'x-token': sent }, token('Token '))).toBe(false)
    },
  )

  test('is read from no other header', () => {
    expect(isAccepted({ authorization: 'a secret', 'x-other': 'a secret' }, token(null))).toBe(false)
  })
})

describe('an HMAC', () => {
  const signature = createHmac('sha256', 'a secret').update(BODY).digest('hex')
  const hmac = (prefix: string | null): Verification => ({
    scheme: 'hmac_sha256_hex',
    header: 'X-Signature',
    prefix,
  })

  test('is accepted with its prefix, in any case of its digits', () => {
    expect(isAccepted({ 'x-signature': signature }, hmac(null))).toBe(true)
    expect(isAccepted({ 'x-signature': `sha256=${signature.toUpperCase()}` }, hmac('sha256='))).toBe(true)
  })

  test.each([
    ['no prefix', signature],
    ['another prefix', `sha1=${signature}`],
    ['a prefix that is not at the start', `x sha256=${signature}`],
    ['the prefix alone', 'sha256='],
    ['a part', `sha256=${signature.slice(0, 62)}`],
    ['more', `sha256=${signature}00`],
    ['another', `sha256=${'0'.repeat(64)}`],
    ['no digits', `sha256=${'z'.repeat(64)}`],
  ])('is refused: %s', (_, sent) => {
    expect(isAccepted({ 'x-signature': sent }, hmac('sha256='))).toBe(false)
  })

  test('of another secret is refused', () => {
    expect(isAccepted({ 'x-signature': signature }, { ...hmac(null), secret: 'other' })).toBe(false)
  })
})

describe('a signature of Standard Webhooks', () => {
  const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const standard = { scheme: 'standard_webhooks', header: null, prefix: null, secret } as const
  const headersAt = (at: Date, id = 'msg_1') => ({
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, BODY.toString()),
  })
  const minutesFromNow = (minutes: number) => new Date(now.getTime() + minutes * 60_000)

  test.each([-4, 0, 4])('is accepted %s minutes from now', (minutes) => {
    expect(isAccepted(headersAt(minutesFromNow(minutes)), standard)).toBe(true)
  })

  test.each([-6, 6])('is refused %s minutes from now', (minutes) => {
    expect(isAccepted(headersAt(minutesFromNow(minutes)), standard)).toBe(false)
  })

  test('covers the version, the id, and the timestamp', () => {
    const sent = headersAt(now)
    const asV2 = sent['webhook-signature'].replace('v1,', 'v2,')
    expect(isAccepted({ ...sent, 'webhook-signature': asV2 }, standard)).toBe(false)
    expect(isAccepted({ ...sent, 'webhook-id': 'msg_2' }, standard)).toBe(false)
    const later = `${Number(sent['webhook-timestamp']) + 1}`
    expect(isAccepted({ ...sent, 'webhook-timestamp': later }, standard)).toBe(false)
  })
})
