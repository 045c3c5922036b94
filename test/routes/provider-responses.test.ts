import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { type Behaviour, type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { browserOf, PUBLIC_URL } from '../support/identity-browser.ts'
import { ALLOWED, addProvider, signInAt, startWithPublicUrl } from '../support/providers.ts'

let service: TestApp
let provider: HostileProvider
let id: string
const CLAIMS = {
  email: 'ada@acme.com',
  email_verified: true,
  name: 'Ada',
  preferred_username: 'ada',
  groups: [],
}
beforeAll(async () => {
  service = await startWithPublicUrl({ providerTimeoutMs: 1_000 })
  provider = await startHostileProvider()
  ;({ id } = await addProvider(service, { issuer: provider.issuer, ...ALLOWED }))
})
beforeEach(() => behave())
afterEach(() => vi.useRealTimers())
afterAll(async () => {
  await provider.close()
  await service.close()
})

const behave = ({ claims, ...change }: Partial<Behaviour> = {}) =>
  provider.behave({ ...change, claims: { ...CLAIMS, ...claims } })
const error = (code: string) => `/sign-in?error=${code}`
const signIn = async () => (await signInAt(service, id)).arrival.at
const seconds = () => Math.floor(Date.now() / 1_000)

/** What the provider knows of the configuration is read again, as after ten minutes. */
const forget = () => service.patch(`/api/identity-providers/${id}`, { name: 'Acme' })

describe('a response of a provider', () => {
  test.each<[string, () => Partial<Behaviour>]>([
    ['signed with alg none', () => ({ header: { alg: 'none' } })],
    ['with a shared key', () => ({ header: { alg: 'HS256' } })],
    ['for another audience', () => ({ claims: { aud: 'other' } })],
    ['for several audiences', () => ({ claims: { aud: ['inlet', 'other'] } })],
    ['for another party', () => ({ claims: { azp: 'other' } })],
    ['with another nonce', () => ({ claims: { nonce: 'other' } })],
    ['without a nonce', () => ({ claims: { nonce: undefined } })],
    ['of another issuer in the token', () => ({ claims: { iss: 'https://other.example' } })],
    ['of another issuer in the address', () => ({ issuerInResponse: 'https://other.example' })],
    ['without the issuer that was promised', () => ({ issuerInResponse: null })],
    ['that has expired five minutes ago', () => ({ claims: { exp: seconds() - 300 } })],
    ['that is valid in five minutes', () => ({ claims: { nbf: seconds() + 300 } })],
    ['without a token', () => ({ tokens: { id_token: undefined } })],
    ['with a token that is none', () => ({ tokens: { id_token: 'a.b.c' } })],
    ['with a subject of 256 characters', () => ({ claims: { sub: 'x'.repeat(256) } })],
    ['with NUL in the subject', () => ({ claims: { sub: 'ada\0' } })],
    ['without a subject', () => ({ claims: { sub: undefined } })],
  ])('is refused %s', async (_, change) => {
    behave(change())
    expect(['response_invalid', 'provider_unreachable'].map(error)).toContain(await signIn())
    expect(await service.query("select 1 from users where username like 'ada%'")).toEqual([])
  })

  test('is accepted if the clocks differ by less than a minute', async () => {
    behave({ claims: { sub: 'late', preferred_username: 'late', iat: seconds() - 350, exp: seconds() - 50 } })
    expect(await signIn()).toBe('/')
    behave({ claims: { sub: 'early', preferred_username: 'early', nbf: seconds() + 50 } })
    expect(await signIn()).toBe('/')
  })

  test('identifies somebody by a subject of 255 characters, and by its case', async () => {
    const subjects = ['x'.repeat(255), `${'x'.repeat(254)}X`, 'é', 'e\u0301']
    const ids = []
    for (const sub of [...subjects, ...subjects]) {
      behave({ claims: { sub, preferred_username: 'somebody' } })
      ids.push((await signInAt(service, id)).me.user.id)
    }
    expect(new Set(ids.slice(0, 4)).size).toBe(4)
    expect(ids.slice(4)).toEqual(ids.slice(0, 4))
  })

  test('is used once, also by the browser that brings it', async () => {
    behave({ claims: { sub: 'replayed', preferred_username: 'replayed' } })
    const browser = browserOf(service)
    const { at } = await browser.open(`/auth/${id}`, {
      until: ({ pathname }) => pathname.endsWith('/callback'),
    })
    const cookie = browser.cookie('inlet_sign_in') ?? ''
    expect((await browser.open(at)).at).toBe('/')
    browser.setCookie(`${cookie}; Path=/auth`)
    expect((await browser.open(at)).at).toBe(error('attempt_invalid'))
    // A code that is used again with a new attempt has the wrong state, and leaves that attempt alone.
    const next = await browser.open(`/auth/${id}`, {
      until: ({ pathname }) => pathname.endsWith('/callback'),
    })
    expect((await browser.open(at)).at).toBe(error('attempt_invalid'))
    expect((await browser.open(next.at)).at).toBe('/')
  })

  test('is refused in another browser', async () => {
    const [one, other] = [browserOf(service), browserOf(service)]
    const until = ({ pathname }: URL) => pathname.endsWith('/callback')
    const { at } = await one.open(`/auth/${id}`, { until })
    expect((await other.open(at)).at).toBe(error('attempt_invalid'))
    // Nor with an attempt of its own.
    await other.open(`/auth/${id}`, { until })
    expect((await other.open(at)).at).toBe(error('attempt_invalid'))
  })

  test('is refused where another provider answers', async () => {
    const second = await startHostileProvider()
    const { id: other } = await addProvider(service, { issuer: second.issuer, ...ALLOWED })
    const browser = browserOf(service)
    const until = ({ pathname }: URL) => pathname.endsWith('/callback')
    const { at } = await browser.open(`/auth/${id}`, { until })
    const elsewhere = at.replace(id, other)
    expect((await browser.open(elsewhere)).at).toBe(error('attempt_invalid'))
    const mixed = await browser.open(`/auth/${id}`, { until })
    const swapped = new URL(mixed.at, PUBLIC_URL)
    swapped.searchParams.set('iss', second.issuer)
    expect((await browser.open(swapped.href)).at).toBe(error('response_invalid'))
    await second.close()
  })
})

describe('a provider', () => {
  test('that signs with unknown keys is asked for its keys once a minute', async () => {
    behave({ header: { kid: 'unknown' } })
    await signIn()
    const before = provider.counts.keys
    await Promise.all(Array.from({ length: 20 }, signIn))
    expect(provider.counts.keys - before).toBeLessThanOrEqual(1)
  })

  test('may change its keys', async () => {
    behave({ claims: { sub: 'rotated', preferred_username: 'rotated' } })
    await forget()
    expect(await signIn()).toBe('/')
    provider.changeKeys()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect(await signIn()).toBe('/')
  })

  test.each<[string, Partial<Behaviour>]>([
    ['down', { isDown: true }],
    ['slow', { delayMs: 3_000 }],
    ['another issuer', { configuration: { issuer: 'https://other.example' } }],
    ['without keys', { configuration: { jwks_uri: undefined } }],
    ['larger than 1 MiB', { padding: 1024 * 1024 }],
    ['redirected to http elsewhere', { configuration: { token_endpoint: 'http://inlet.invalid/token' } }],
  ])('that is %s keeps nobody else out', async (_, change) => {
    behave(change)
    await forget()
    const [at, ways] = await Promise.all([signIn(), service.get('/api/sign-in', { key: null })])
    expect([error('provider_unreachable'), error('response_invalid')]).toContain(at)
    expect(ways.body.providers).toContainEqual({ id, name: 'Acme' })
    expect((await service.get('/api/me')).status).toBe(200)
    behave({ claims: { sub: 'back', preferred_username: 'back' } })
    await forget()
    expect(await signIn()).toBe('/')
  })
})
