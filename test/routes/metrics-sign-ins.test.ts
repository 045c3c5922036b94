import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { authenticator } from '../support/authenticator.ts'
import { PUBLIC_URL } from '../support/identity-browser.ts'
import { readMetrics } from '../support/metrics.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { addPasskey, beginSignIn, signInWithPasskey } from '../support/passkeys.ts'
import { person, signInAs } from '../support/people.ts'
import { ALLOWED, account, addProvider, signInAt, startWithPublicUrl } from '../support/providers.ts'
import { signIn as signInWithKey } from '../support/sign-in.ts'

const NAME = 'inlet_sign_ins_total'

let service: TestApp
beforeAll(async () => {
  service = await startWithPublicUrl()
})
afterAll(() => service.close())

const text = async (): Promise<string> => (await service.get('/metrics')).body
const samples = async () => readMetrics(await text()).find(({ name }) => name === NAME)?.samples ?? []

/** What was counted since the last call, by way and outcome. */
async function counter() {
  let before = new Map<string, number>()
  const counted = async () => {
    const now = new Map(
      (await samples()).map(({ labels, value }) => [`${labels.way} ${labels.outcome}`, value]),
    )
    const since = [...now].map(([key, value]) => [key, value - (before.get(key) ?? 0)] as const)
    before = now
    return Object.fromEntries(since.filter(([, value]) => value !== 0))
  }
  await counted()
  return counted
}

test('sign-ins are 0 by each way and outcome before the first', async () => {
  const ways = ['key', 'passkey', 'password', 'provider']
  const all = ways.flatMap((way) =>
    ['failed', 'refused', 'succeeded'].map((outcome) => `${way} ${outcome} 0`),
  )
  const found = (await samples()).map(({ labels, value }) => `${labels.way} ${labels.outcome} ${value}`)
  expect(found.sort()).toEqual(all)
})

test('sign-ins count by way and outcome, without who it was', async () => {
  const counted = await counter()
  const ada = await person(service)
  const { device } = await addPasskey(service, ada, { device: authenticator(PUBLIC_URL) })
  // Accepting an invite is none.
  expect(await counted()).toEqual({})

  await signInAs(service, ada.username)
  await signInAs(service, ada.username, 'wrong')
  await signInAs(service, 'nobody', 'wrong')
  expect(await counted()).toEqual({ 'password succeeded': 1, 'password refused': 2 })

  await signInWithKey(service, service.adminKey)
  await service.post('/api/sessions', { key: 'wrong' }, { key: null })
  expect(await counted()).toEqual({ 'key succeeded': 1, 'key refused': 1 })

  const begun = await beginSignIn(service)
  expect((await signInWithPasskey(service, device, { begun })).status).toBe(201)
  expect((await signInWithPasskey(service, device, { begun })).status).toBe(401)
  expect(await counted()).toEqual({ 'passkey succeeded': 1, 'passkey refused': 1 })
  // Not one of them is a sign-in.
  await service.post('/api/sessions', {}, { key: null })
  expect(await counted()).toEqual({})
  expect(await text()).not.toContain(ada.username)
})

test('sign-ins at a provider count, also those that the provider is to blame for', async () => {
  const provider = await startOidcProvider()
  const { id, redirectUrl } = await addProvider(service, {
    issuer: provider.issuer,
    scopes: ['profile', 'email'],
    ...ALLOWED,
  })
  await provider.register(redirectUrl)
  const counted = await counter()

  provider.signIn(account())
  expect((await signInAt(service, id)).arrival.at).toBe('/')
  provider.signIn(account({ email: 'eve@evil.example' }))
  expect((await signInAt(service, id)).arrival.at).toMatch(/error=/)
  expect(await counted()).toEqual({ 'provider succeeded': 1, 'provider refused': 1 })

  await provider.close()
  const unreachable = await addProvider(service, { name: 'Away', issuer: 'http://127.0.0.1:9' })
  expect((await signInAt(service, unreachable.id)).arrival.at).toBe('/sign-in?error=provider_unreachable')
  expect(await counted()).toEqual({ 'provider failed': 1 })
})

test('a sign-in while the database fails counts as failed', async () => {
  const counted = await counter()
  const ada = await person(service)
  await service.query('alter table passwords rename to passwords_away')
  expect((await signInAs(service, ada.username)).response.status).toBe(500)
  await service.query('alter table passwords_away rename to passwords')
  expect(await counted()).toEqual({ 'password failed': 1 })
})
