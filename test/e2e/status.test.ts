import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { freePort } from '../support/free-port.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { addProvider } from '../support/providers.ts'
import { sourceOf } from '../support/sources.ts'
import { startSyncing } from '../support/syncing.ts'
import { SENDING_ENV, startReceiver, webhookTo } from '../support/webhooks.ts'
import { expectNone, testWith, violationsOn } from './support/browser.ts'
import { expectGone, failing, markOf, SOON } from './support/failing.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startApp({ env: SENDING_ENV })))
/** A service that providers can come back to. */
const testSignIn = testWith(async () => {
  const port = await freePort()
  const env = { PUBLIC_URL: `http://127.0.0.1:${port}`, ENCRYPTION_KEY: 'ab'.repeat(32) }
  return withJobs(startApp({ env, port }))
})
/** With a provider that nobody can reach. */
const testOfEnvironment = testWith(() => {
  const env = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'inlet', OIDC_CLIENT_SECRET: 'secret' }
  return withJobs(startApp({ env }))
})
const testFeedback = testWith(() => withJobs(startApp({ env: { WEBHOOK_SECRET } })))
const testSync = testWith(() => withJobs(startSyncing({ tokens: { fresh: {}, old: {} } })))

describe('what fails is marked, explained, and one click from where it is mended:', () => {
  test('an outgoing webhook whose receiver responds with 500', async ({ app }) => {
    const receiver = await startReceiver()
    receiver.respondWith(500)
    const name = 'نموذج الاتصال'
    await webhookTo(app.service, { name, url: receiver.url, types: ['task.created'] })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByText('All tasks').first().waitFor()

    await app.service.post('/api/tasks', { title: 'Sent' })
    await expect.poll(() => receiver.received.length, SOON).toBe(1)
    await markOf(page).waitFor(SOON)
    await markOf(page).click()
    await failing(page).getByText(name, { exact: true }).waitFor()
    await failing(page).getByText('The receiver responded with 500.').waitFor()
    expect(await violationsOn(page)).toEqual([])

    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.getByRole('heading', { name: `Deliveries of “\u2068${name}\u2069”` }).waitFor()
    const delivery = page.getByRole('listitem').filter({ hasText: 'task.created: Sent' })
    await delivery.getByText(/500/).waitFor()
    receiver.respondWith(204)
    await delivery.getByRole('button', { name: 'Retry' }).click()
    await expectGone(page)
    await receiver.close()
  })

  test('a source whose sender has a wrong secret', async ({ app }) => {
    const { source, send } = await sourceOf(app.service)
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    const secret = `whsec_${'A'.repeat(44)}`
    await send({ title: 'One' }, { secret })
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('Forms').waitFor()
    await failing(page)
      .getByText(/signature does not match/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'Rotate secret' }).click()
    const rotation = page.getByRole('dialog', { name: 'Rotate the secret of “Forms”' })
    await rotation.getByLabel('Secret of the sender').fill(secret)
    await rotation.getByRole('button', { name: 'Rotate secret' }).click()
    const stored = page.getByRole('dialog', { name: 'Secret of “Forms”' })
    await stored.getByText(secret).waitFor()
    await stored.getByRole('button', { name: "I've stored it" }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'Forms' })
    await item.getByText('Failing').waitFor()
    await item.getByText(/signature does not match/).waitFor()
    await item.getByRole('link', { name: 'Rotate secret' }).click()
    await page.waitForURL(`${app.service.url}/settings/sources?rotate=${source.id}`)
    await rotation.waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.keyboard.press('Escape')

    expect((await send({ title: 'Two' }, { secret })).status).toBe(201)
    await expectGone(page)
    await expectNone(page, item.getByText('Failing'))
  })

  test('a source whose templates make nothing of what it gets', async ({ app }) => {
    const { source, send } = await sourceOf(app.service)
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await send({ text: 'No title' })
    await markOf(page).waitFor(SOON)
    await failing(page).getByText(/title/).waitFor()
    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    const rejected = `${app.service.url}/incoming?sourceId=${source.id}&outcome=rejected`
    await page.waitForURL(rejected)
    await page.getByText('/template/title').waitFor()
    await page.getByRole('link', { name: 'Open source' }).click()
    await page.getByText('Advanced').click()
    await page.getByRole('textbox', { name: 'Title' }).fill('{{ item.text }}')
    await page.getByRole('button', { name: 'Save source' }).click()
    await page.getByRole('button', { name: 'Save source' }).waitFor({ state: 'detached' })
    await page.goto(rejected)
    await page.getByRole('button', { name: 'Replay' }).click()
    await expectGone(page)
  })

  testFeedback('feedback whose sender has a wrong secret', async ({ app }) => {
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    expect((await sender(app.service.url, 'another')(feedback())).status).toBe(401)
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('The webhook secret is invalid or was revoked.').waitFor()
    await failing(page).getByRole('link', { name: 'Open webhook' }).click()
    await page.getByRole('button', { name: 'Create secret' }).click()
    const secret = await page.getByRole('dialog').locator('pre').first().innerText()

    expect((await sender(app.service.url, secret)(feedback())).status).toBe(201)
    await expectGone(page)
  })

  testFeedback('feedback that is not valid', async ({ app }) => {
    const send = sender(app.service.url, WEBHOOK_SECRET)
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    expect((await send(feedback({ sentiment: 'furious', note: 'Not valid' }))).status).toBe(400)
    await markOf(page).waitFor(SOON)
    await failing(page)
      .getByText(/sentiment/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.getByText('/properties/sentiment').waitFor()

    expect((await send(feedback({ note: 'Valid' }))).status).toBe(201)
    await expectGone(page)
  })

  testSignIn('an identity provider that is down', async ({ app }) => {
    const { service } = app
    const provider = await startOidcProvider()
    const { id, redirectUrl } = await addProvider(service, { issuer: provider.issuer })
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await provider.close()
    const elsewhere = await app.open('/sign-in', { key: null })
    await elsewhere.getByRole('link', { name: 'Continue with Acme' }).click()
    await elsewhere.getByRole('alert').waitFor()
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('Acme').waitFor()
    await failing(page)
      .getByText(/refused the connection/)
      .waitFor()

    const again = await startOidcProvider({ port: Number(new URL(provider.issuer).port) })
    await again.register(redirectUrl)
    await failing(page).getByRole('link', { name: 'Test provider' }).click()
    await page.waitForURL(`${service.url}/settings/sign-in?test=${id}`)
    await page.getByRole('dialog').getByText('Configuration: OK').waitFor()
    await expectGone(page)
    await again.close()
  })

  testOfEnvironment('the identity provider of the environment', async ({ app }) => {
    const { service } = app
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await service.post('/api/identity-providers/env/test')
    await markOf(page).waitFor(SOON)
    await failing(page).getByRole('link', { name: 'Test provider' }).click()
    await page.waitForURL(`${service.url}/settings/sign-in?test=env`)
    await page.getByRole('dialog').getByText('Configuration: failed').waitFor()
  })

  testSync('a sync whose token the code host refuses', async ({ app }) => {
    const { service } = app
    const { project } = await service.connected({ token: 'old' })
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    service.host.tokens.delete('old')
    await service.post(`/api/codehost/${project.id}/sync`)
    await markOf(page).waitFor(SOON)
    await failing(page)
      .getByText(/token is invalid, expired or revoked/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'Renew token' }).click()
    await page.waitForURL(`${service.url}/projects/${project.id}?edit=connection`)
    await page.locator('input[type=password]').fill('fresh')
    await page.getByRole('button', { name: 'Save connection' }).click()
    await page.getByRole('button', { name: 'Sync issues & PRs' }).click()
    await expectGone(page)
  })
})
