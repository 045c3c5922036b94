import { expect, test } from 'vitest'
import { PASSKEYS_TEXT, PROVIDERS_TEXT } from '../src/start-text.ts'
import { startApp, type TestApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { browserOf, PUBLIC_URL as PROVIDER_URL } from './support/identity-browser.ts'
import { CLIENT, startOidcProvider } from './support/oidc-provider.ts'
import { addPasskey, PUBLIC_URL } from './support/passkeys.ts'
import { person } from './support/people.ts'
import { ALLOWED, account, addProvider, signInAt, startWithPublicUrl } from './support/providers.ts'

const NEW_URL = 'https://new.example.com'

test('a start under another public URL says how many passkeys do not work there', async () => {
  const app = await startApp({ env: { PUBLIC_URL } })
  const ada = await person(app)
  for (let n = 0; n < 2; n++) await addPasskey(app, ada)
  expect(await warningsOf(app, { PUBLIC_URL: NEW_URL }, PASSKEYS_TEXT)).toMatchObject([{ passkeys: 2 }])
  expect(await warningsOf(app, { PUBLIC_URL }, PASSKEYS_TEXT)).toEqual([])
  await app.close()
})

test('a start under another public URL says at how many providers nobody can sign in', async () => {
  const [stored, off, ofEnvironment] = await Promise.all([1, 2, 3].map(() => startOidcProvider()))
  if (!stored || !off || !ofEnvironment) throw new Error('not started')
  const { clientId, clientSecret } = CLIENT
  const env = {
    OIDC_ISSUER: ofEnvironment.issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  }
  const app = await startWithPublicUrl({ env })
  const ids = []
  for (const { issuer, register, signIn } of [stored, off]) {
    const { id, redirectUrl } = await addProvider(app, { issuer, ...ALLOWED })
    await register(redirectUrl)
    signIn(account())
    expect((await signInAt(app, id)).arrival.at).toBe('/')
    ids.push(id)
  }
  await app.patch(`/api/identity-providers/${ids[1]}`, { isActive: false })
  // Never used: whether it works is not known.
  await addProvider(app, { issuer: 'https://unused.example.com', ...ALLOWED })
  await ofEnvironment.register(`${PROVIDER_URL}/auth/env/callback`)
  ofEnvironment.signIn(account())
  const { body: invite } = await app.post('/api/invites', { name: 'Ada', role: 'member' })
  const browser = browserOf(app)
  const body = { secret: invite.secret, providerId: 'env', username: 'ada' }
  const begun = await browser.call('POST', '/api/invites/accept-at-provider', body)
  expect((await browser.open(begun.body.url)).at).toBe('/')

  const at = (publicUrl: string, more: object = env) =>
    warningsOf(app, { PUBLIC_URL: publicUrl, ...more }, PROVIDERS_TEXT)
  expect(await at(PROVIDER_URL)).toEqual([])
  expect(await at(NEW_URL)).toMatchObject([{ providers: 2 }])
  expect(await at(NEW_URL, {})).toMatchObject([{ providers: 1 }])
  await Promise.all([stored, off, ofEnvironment].map(({ close }) => close()))
  await app.close()
})

/** Starts Inlet with this environment, and returns what it logs with this text. */
async function warningsOf(app: TestApp, given: { PUBLIC_URL: string }, text: string): Promise<object[]> {
  const env = { DATABASE_URL: app.connectionString, PORT: '0', ENCRYPTION_KEY: 'ab'.repeat(32), ...given }
  const { process, ended, output } = spawnCommand(['start'], { env })
  await expect.poll(output, { timeout: 60_000 }).toContain(`Inlet is running at ${given.PUBLIC_URL}/`)
  process.kill('SIGTERM')
  await ended
  const lines = output().split('\n')
  return lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line))
}
