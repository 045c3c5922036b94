import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { startJobs } from '../../src/jobs/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { sourceOf } from '../support/sources.ts'
import { startSyncing } from '../support/syncing.ts'
import { SENDING_ENV, startReceiver, webhookTo } from '../support/webhooks.ts'
import type { Page } from '../tools/playwright.ts'
import { expectNone, testWith, violationsOn } from './support/browser.ts'

/** Ends with its background worker, which shows what has happened within seconds. */
async function withJobs<App extends TestApp>(started: Promise<App>): Promise<App> {
  const service = await started
  const jobs = startJobs({ services: service.service, logger: pino({ level: 'silent' }) })
  const { close } = service
  return Object.assign(service, {
    async close() {
      await jobs.stop()
      await close()
    },
  })
}

const test = testWith(() => withJobs(startApp({ env: SENDING_ENV })))
const testSync = testWith(() => withJobs(startSyncing({ tokens: { fresh: {}, old: {} } })))

/** Within the time in which a fault has to be seen. */
const SOON = { timeout: 5_000 }

const markOf = (page: Page) => page.getByRole('link', { name: 'Overview 1 failing' })
const failing = (page: Page) => page.getByRole('region', { name: 'Failing' }).getByRole('listitem')

describe('what fails is marked, explained, and one click from where it is mended:', () => {
  test('an outgoing webhook whose receiver responds with 500', async ({ app }) => {
    const receiver = await startReceiver()
    receiver.respondWith(500)
    await webhookTo(app.service, { name: 'Chat', url: receiver.url, types: ['task.created'] })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByText('All tasks').first().waitFor()

    await app.service.post('/api/tasks', { title: 'Sent' })
    await expect.poll(() => receiver.received.length, SOON).toBe(1)
    await markOf(page).waitFor(SOON)
    await markOf(page).click()
    await failing(page).getByText('Chat').waitFor()
    await failing(page).getByText(/500/).waitFor()
    expect(await violationsOn(page)).toEqual([])

    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.getByText('task.created: Sent').waitFor()
    await page.getByRole('button', { name: 'Back to webhooks' }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'Chat' })
    await item.getByText(/500/).waitFor()
    receiver.respondWith(204)
    await item.getByRole('button', { name: 'Retry all' }).click()
    await expectGone(page)
    await receiver.close()
  })

  test('a source whose sender has a wrong secret', async ({ app }) => {
    const { send } = await sourceOf(app.service)
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await send({ title: 'One' }, { secret: `whsec_${'A'.repeat(44)}` })
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('Forms').waitFor()
    await failing(page).getByRole('link', { name: 'Open source' }).click()
    await page.getByLabel('Name').waitFor()

    await send({ title: 'Two' })
    await expectGone(page)
  })

  test('a source whose templates make nothing of what it gets', async ({ app }) => {
    const { source, send } = await sourceOf(app.service)
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await send({ text: 'No title' })
    await markOf(page).waitFor(SOON)
    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.waitForURL(`${app.service.url}/incoming?sourceId=${source.id}&outcome=rejected`)
    await page.getByText('/template/title').waitFor()
    await page.getByRole('link', { name: 'Open source' }).waitFor()
  })

  testSync('a sync whose token the code host refuses', async ({ app }) => {
    const { service } = app
    const { project } = await service.connected({ token: 'old' })
    const page = await app.open('/overview', { isLive: true })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    service.host.tokens.delete('old')
    await service.post(`/api/codehost/${project.id}/sync`)
    await markOf(page).waitFor({ timeout: 10_000 })
    await failing(page).getByRole('link', { name: 'Renew token' }).click()
    await page.waitForURL(`${service.url}/projects/${project.id}?edit=connection`)
    await page.getByRole('button', { name: 'Save connection' }).waitFor()
  })
})

/** The mark goes as it came: by itself. */
async function expectGone(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Overview', exact: true }).waitFor({ timeout: 10_000 })
  await expectNone(page, markOf(page))
}
