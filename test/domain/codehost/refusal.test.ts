import { describe, expect, test } from 'vitest'
import { type HostRefusal, judgeRefusal } from '../../../src/domain/codehost/refusal.ts'

const now = new Date('2026-01-01T00:00:00Z')
const refusal = (status: number, rest: Partial<HostRefusal> = {}): HostRefusal => ({
  status,
  message: '',
  retryAfter: null,
  singleSignOn: null,
  limits: { remaining: 4_000, resetAt: null },
  ...rest,
})
const judge = (given: HostRefusal, limitedBefore = 0) =>
  judgeRefusal(given, { now, access: { token: 'some' }, limitedBefore })
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000)

describe('a rate limit', () => {
  const none = { remaining: 0, resetAt: inSeconds(600) }
  const over = { remaining: 0, resetAt: inSeconds(-10) }
  const silent = { remaining: null, resetAt: null }
  test.each<[string, HostRefusal, number, number]>([
    ['primary, as 403', refusal(403, { limits: none }), 0, 601],
    ['primary, as 429', refusal(429, { limits: none }), 0, 601],
    ['with retry-after, which counts most', refusal(403, { limits: none, retryAfter: '30' }), 0, 30],
    ['with retry-after as a date', refusal(429, { retryAfter: 'Thu, 01 Jan 2026 00:01:30 GMT' }), 0, 90],
    ['with a retry-after of years', refusal(429, { retryAfter: '99999999' }), 0, 86_400],
    [
      'secondary, in words only',
      refusal(403, { message: 'You have exceeded a secondary rate limit', limits: silent }),
      0,
      60,
    ],
    ['until a time that is over', refusal(403, { limits: over }), 0, 60],
    ['until a time that is over, again', refusal(403, { limits: over }), 1, 120],
    [
      'with a retry-after that is over',
      refusal(429, { retryAfter: 'Wed, 31 Dec 2025 23:59:00 GMT' }),
      1,
      120,
    ],
    ['with a retry-after of nothing', refusal(429, { retryAfter: '0', limits: none }), 0, 60],
    ['of a silent host', refusal(429, { limits: silent }), 0, 60],
    ['of a silent host, again', refusal(429, { limits: silent }), 1, 120],
    ['of a silent host, for the tenth time', refusal(429, { limits: silent }), 10, 3_600],
  ])('%s is waited for', (_, given, limitedBefore, seconds) => {
    expect(judge(given, limitedBefore)).toMatchObject({ verdict: 'wait', retryAt: inSeconds(seconds) })
  })
})

test.each<[number, Partial<HostRefusal>, string, RegExp]>([
  [401, {}, 'codehost_token_rejected', /expired or revoked/],
  [
    403,
    { message: 'Resource not accessible' },
    'codehost_access_denied',
    /read access to issues.*Resource not accessible/,
  ],
  [403, { singleSignOn: 'https://x/sso' }, 'codehost_access_denied', /single sign-on at https:\/\/x\/sso/],
  [404, {}, 'codehost_repository_not_found', /does not exist/],
  [410, {}, 'codehost_access_denied', /disabled in this repository/],
  [451, {}, 'codehost_access_denied', /legal/],
  [422, { message: 'no' }, 'codehost_access_denied', /422/],
  [301, {}, 'codehost_access_denied', /301/],
])('%i %j fails permanently and says what to do', (status, rest, code, words) => {
  expect(judge(refusal(status, rest))).toMatchObject({
    verdict: 'fail',
    code,
    message: expect.stringMatching(words),
  })
})

test.each<[number, string, string, RegExp]>([
  [401, 'A JSON web token could not be decoded', 'codehost_token_rejected', /private key or the app ID/],
  [401, "'Issued at' claim ('iat') must be an Integer", 'codehost_token_rejected', /clock of this server/],
  [403, 'This installation has been suspended', 'codehost_access_denied', /Unsuspend/],
  [404, 'Not Found', 'codehost_token_rejected', /installation ID/],
  [422, 'no', 'codehost_access_denied', /422 for the GitHub App/],
])('a GitHub App that gets no token, %i %s, is told what to do', (status, message, code, words) => {
  expect(judge(refusal(status, { message, isTokenRequest: true }))).toMatchObject({
    verdict: 'fail',
    code,
    message: expect.stringMatching(words),
  })
})

test('a rate limit of the token request is waited for', () => {
  expect(judge(refusal(429, { isTokenRequest: true, retryAfter: '30' }))).toMatchObject({ verdict: 'wait' })
})

test('a GitHub App whose token is still valid is told that its installation is suspended', () => {
  const given = refusal(403, { message: 'This installation has been suspended' })
  expect(judgeRefusal(given, { now, access: { token: null, app: {} }, limitedBefore: 0 })).toMatchObject({
    code: 'codehost_access_denied',
    message: expect.stringContaining('Unsuspend'),
  })
})

test.each([
  ['the reset', { limits: { remaining: 0, resetAt: new Date(now.getTime() - 60_000) } }],
  ['Retry-After', { retryAfter: '0' }],
  ['a date in Retry-After', { retryAfter: new Date(now.getTime() - 60_000).toUTCString() }],
])('a time that is over already is no answer to how long to wait: %s', (_, rest) => {
  const judged = [0, 1].map((limitedBefore) =>
    judgeRefusal(refusal(403, rest), { now, access: { token: 'token' }, limitedBefore }),
  )
  expect(judged).toEqual([
    { verdict: 'wait', isGuess: true, retryAt: new Date(now.getTime() + 60_000) },
    { verdict: 'wait', isGuess: true, retryAt: new Date(now.getTime() + 120_000) },
  ])
})
