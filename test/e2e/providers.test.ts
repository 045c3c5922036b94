import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { CLIENT, startOidcProvider } from '../support/oidc-provider.ts'
import { account } from '../support/providers.ts'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, expectNone, testWith } from './support/browser.ts'
import { addProviderInDialog, field, givenPerson, openAs } from './support/people.ts'

/** A service that providers can come back to, and a provider. */
const test = testWith(async () => {
  const port = await freePort()
  const env = { PUBLIC_URL: `http://127.0.0.1:${port}`, ENCRYPTION_KEY: 'ab'.repeat(32) }
  const service = await startApp({ env, port })
  const provider = await startOidcProvider()
  const { close } = service
  return Object.assign(service, {
    provider,
    close: async () => {
      await provider.close()
      await close()
    },
  })
})
type App = AppInBrowser<Awaited<ReturnType<typeof startApp>> & { provider: Provider }>
type Provider = Awaited<ReturnType<typeof startOidcProvider>>

async function addProvider({ service }: App, body: object = {}): Promise<string> {
  const { issuer } = service.provider
  const added = await service.post('/api/identity-providers', { name: 'Acme', issuer, ...CLIENT, ...body })
  await service.provider.register(added.body.redirectUrl)
  return added.body.id
}

const continueWith = (page: Page) => page.getByRole('link', { name: 'Continue with Acme' })
const signedInAs = (page: Page, name: RegExp) => page.getByRole('button', { name }).waitFor()

describe('an identity provider', () => {
  test('is added and tested by an owner, and lets in somebody new', async ({ app }) => {
    const { provider } = app.service
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const owner = await openAs(app, 'ada', '/settings/sign-in')
    const redirectUrl = await addProviderInDialog(owner, { name: 'Acme', issuer: provider.issuer })
    expect(redirectUrl).toMatch(new RegExp(`^${app.service.url}/auth/.*/callback$`))

    await owner.getByRole('button', { name: 'Test', exact: true }).click()
    const steps = owner.getByRole('dialog', { name: 'Test of “Acme”' })
    await steps.getByText('Configuration: failed').waitFor()
    await owner.keyboard.press('Escape')
    await provider.register(redirectUrl)
    await owner.getByRole('button', { name: 'Test', exact: true }).click()
    for (const step of ['Configuration', 'Keys', 'Redirect URL'])
      await steps.getByText(`${step}: OK`).waitFor()
    // At its address it is tested again.
    await owner.reload()
    await steps.getByText('Configuration: OK').waitFor()
    await owner.goBack()
    await steps.waitFor({ state: 'detached' })
    await owner.getByRole('button', { name: 'Test', exact: true }).waitFor()

    provider.signIn(account({ name: 'Grace Hopper', preferred_username: 'grace' }))
    const task = (await app.service.post('/api/tasks', { title: 'Find the moth' })).body
    const page = await app.open(`/tasks/${task.id}`, { key: null })
    await continueWith(page).click()
    await signedInAs(page, /Grace Hopper.*member/)
    await page.waitForURL(`${app.service.url}/tasks/${task.id}`)
  })

  test('says why it lets somebody not in', async ({ app }) => {
    await addProvider(app)
    app.service.provider.signIn(account())
    const page = await app.open('/sign-in', { key: null })
    await continueWith(page).click()
    await page.getByRole('alert').getByText('Nobody with this account has been invited').waitFor()
    await page.goto(`${app.service.url}/sign-in?error=<b>unknown</b>`)
    await page.getByRole('alert').getByText('The sign-in failed.').waitFor()
  })

  test('is linked and unlinked by a person, and deleted once that is confirmed', async ({ app }) => {
    await addProvider(app)
    app.service.provider.signIn(account())
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const page = await openAs(app, 'ada', '/settings/account')
    await page.getByRole('button', { name: 'Link Acme' }).click()
    const own = page.getByRole('list', { name: 'Identity providers' })
    await own.getByRole('button', { name: 'Unlink' }).waitFor()
    const other = await app.open('/sign-in', { key: null })
    await continueWith(other).click()
    await signedInAs(other, /Ada.*owner/)
    await own.getByRole('button', { name: 'Unlink' }).click()
    await own.getByRole('button', { name: 'Link Acme' }).click()
    await own.getByRole('button', { name: 'Unlink' }).waitFor()

    await app.service.query('delete from passwords')
    await own.getByRole('button', { name: 'Unlink' }).click()
    await page.getByText("Couldn't unlink the provider").waitFor()
    await page.goto(`${app.service.url}/settings/sign-in`)
    await page.getByRole('button', { name: 'Actions for “Acme”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete provider' }).click()
    await page.getByText('One person has no other way to sign in').waitFor()
    await page.getByRole('button', { name: 'Delete nevertheless' }).click()
    await page.getByText('No identity providers yet').waitFor()
  })

  test('is where an invite is accepted, without a password', async ({ app }) => {
    await addProvider(app)
    app.service.provider.signIn(account())
    const { url } = (await app.service.post('/api/invites', { name: 'Grace', role: 'viewer' })).body
    const page = await app.open(url.replace(app.service.url, ''), { key: null })
    await page.getByRole('button', { name: 'Continue with Acme' }).waitFor()
    await expect.poll(() => page.getByRole('textbox', { name: /username/i }).count()).toBe(1)
    await field(page, 'Username').fill('grace')
    await page.getByRole('button', { name: 'Continue with Acme' }).click()
    await signedInAs(page, /Grace.*viewer/)
  })
})

testWith(() => startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))(
  'without PUBLIC_URL, no provider can be used, and the page says what to set',
  async ({ app }) => {
    const alert = (page: Page) => page.getByRole('alert').filter({ hasText: 'PUBLIC_URL is not set' })
    const page = await app.open('/settings/sign-in')
    await page.getByText('PUBLIC_URL must be set').waitFor()
    await expectNone(page, alert(page))

    const body = { name: 'Acme', issuer: 'https://id.example', ...CLIENT }
    expect((await app.service.post('/api/identity-providers', body)).status).toBe(201)
    await page.reload()
    await alert(page).getByText('Set it to the address of this service').waitFor()
    await page.getByRole('list', { name: 'Identity providers' }).getByText('Acme').waitFor()
  },
)
