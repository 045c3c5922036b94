import { describe, expect, test } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { startApp } from './support/app.ts'

describe('the environment', () => {
  test('is rejected as a whole: each invalid variable by name, without values', () => {
    const env = { WEBHOOK_SECRET: 'short', TRUST_PROXY: 'maybe', PORT: '-1', BOOTSTRAP_API_KEY: 'short' }
    const refused = () => loadConfig(env)
    for (const name of Object.keys(env)) expect(refused).toThrow(new RegExp(`^  ${name} must be `, 'm'))
    expect(refused).not.toThrow(/short|maybe/)
  })

  test('rejects a direct URL of the database without DATABASE_URL', () => {
    const DATABASE_DIRECT_URL = 'postgres://inlet@127.0.0.1/inlet'
    expect(() => loadConfig({ DATABASE_DIRECT_URL })).toThrow(
      /^ {2}DATABASE_DIRECT_URL must be set together with DATABASE_URL$/m,
    )
    const { databaseDirectUrl } = loadConfig({ DATABASE_DIRECT_URL, DATABASE_URL: 'postgres://other/inlet' })
    expect(databaseDirectUrl).toBe(DATABASE_DIRECT_URL)
  })

  test.each([15, 16])('accepts a webhook secret from 16 characters: %s', (length) => {
    const load = () => loadConfig({ WEBHOOK_SECRET: 'x'.repeat(length) }).webhookSecret
    if (length < 16) expect(load).toThrow(/WEBHOOK_SECRET must be 16 to 255/)
    else expect(load()).toHaveLength(16)
  })

  test.each([
    [undefined, []],
    ['', []],
    ['chat.internal', ['chat.internal']],
    [' Chat.Internal , 10.0.0.7:8080,[fd00::1]:8443', ['chat.internal', '10.0.0.7:8080', '[fd00::1]:8443']],
  ])('reads WEBHOOK_ALLOW_HOSTS=%j', (text, hosts) => {
    expect(loadConfig({ WEBHOOK_ALLOW_HOSTS: text }).webhookAllowHosts).toEqual(hosts)
  })

  test.each(['http://chat.internal', 'chat.internal/hook', 'a,,b', 'user@chat.internal'])(
    'rejects WEBHOOK_ALLOW_HOSTS=%s',
    (text) => {
      expect(() => loadConfig({ WEBHOOK_ALLOW_HOSTS: text })).toThrow(/WEBHOOK_ALLOW_HOSTS must be/)
    },
  )

  test.each([
    'true',
    'false',
    '1',
    '10',
    'loopback',
    '10.0.0.0/8, 192.168.1.7',
    '::1,fd00::/8',
    'uniquelocal',
  ])('accepts TRUST_PROXY=%s', (text) => {
    expect(loadConfig({ TRUST_PROXY: text }).trustProxy).toBeDefined()
  })

  test.each([
    'maybe',
    '0',
    '11',
    'yes',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    '10.0.0.1/8/8',
    '10.0.0.1,',
    'proxy',
  ])('rejects TRUST_PROXY=%s', (text) => {
    expect(() => loadConfig({ TRUST_PROXY: text })).toThrow(/TRUST_PROXY must be/)
  })
})

describe('the identity provider', () => {
  const whole = {
    OIDC_CLIENT_ID: 'inlet',
    OIDC_CLIENT_SECRET: 's',
    OIDC_ISSUER: 'https://a.example/realms/b',
  }

  test('is described by all three variables, or by none', () => {
    expect(loadConfig(whole).identityProvider).toMatchObject({ issuer: 'https://a.example/realms/b' })
    expect(loadConfig({}).identityProvider).toBeUndefined()
    for (const name of Object.keys(whole)) {
      expect(() => loadConfig({ ...whole, [name]: '' })).toThrow(/must be set together/)
    }
  })

  test.each([
    'http://a.example',
    'https://a.example?b',
    'https://a:b@a.example',
    'http://127.0.0.1.a.example',
  ])('has an https issuer: not %s', (issuer) => {
    expect(() => loadConfig({ ...whole, OIDC_ISSUER: issuer })).toThrow(/OIDC_ISSUER must be/)
  })
})

/** With 2 invalid keys, the second is refused with Retry-After where both count as one client. */
describe('the address of a client', () => {
  test.each([
    ['false', ['a', 'b'], 429],
    ['true', ['1.1.1.1, 9.9.9.9', '2.2.2.2, 9.9.9.9'], 429],
    ['true', ['1.1.1.1', '2.2.2.2'], 401],
    ['2', ['1.1.1.1, 9.9.9.9', '2.2.2.2, 9.9.9.9'], 401],
    ['2', ['0.0.0.1, 1.1.1.1, 9.9.9.9', '0.0.0.2, 1.1.1.1, 9.9.9.9'], 429],
    ['loopback', ['1.1.1.1, 9.9.9.9', '2.2.2.2, 9.9.9.9'], 429],
  ])('with TRUST_PROXY=%s and X-Forwarded-For %j', async (trust, forwarded, second) => {
    const service = await startApp({ env: { TRUST_PROXY: trust, RATE_LIMIT_FAILURES_PER_MINUTE: '1' } })
    try {
      const statuses: number[] = []
      for (const value of forwarded) {
        const headers = { 'x-forwarded-for': value }
        statuses.push((await service.get('/api/me', { key: 'wrong', headers })).status)
      }
      expect(statuses).toEqual([401, second])
    } finally {
      await service.close()
    }
  })
})
