import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { repositoryJson } from '../support/code-host-items.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { pushedTo } from '../support/pushed.ts'
import { sourceOf } from '../support/sources.ts'
import { startSyncing } from '../support/syncing.ts'
import type { Page } from '../tools/playwright.ts'
import {
  type AppInBrowser,
  expectNone,
  forgetActivity,
  smallTargets,
  testWith,
  violationsOn,
} from './support/browser.ts'

const ENV = { ENCRYPTION_KEY: 'ab'.repeat(32), WEBHOOK_SECRET }
const test = testWith(() => startApp({ env: ENV }))
const testCodehost = testWith(() => startSyncing())

const rows = (page: Page) => page.getByRole('listitem').filter({ has: page.locator('[aria-expanded]') })
const rowWith = (page: Page, text: string) => rows(page).filter({ hasText: text })
const titles = (page: Page) => expect.poll(() => rows(page).locator('bdi').allInnerTexts())

async function choose(page: Page, { filter, value }: { filter: string; value: string }): Promise<void> {
  await page.getByRole('combobox', { name: filter }).click()
  await page.getByRole('option', { name: value, exact: true }).click()
}

/** Feedback that is accepted, and that is not, and what two sources take. */
async function givenDeliveries({ service }: Pick<AppInBrowser, 'service'>) {
  const send = sender(service.url, WEBHOOK_SECRET)
  const { id: projectId } = await service.given.project({ name: 'Shop' })
  const forms = await sourceOf(service, { name: 'Forms', projectId })
  const alerts = await sourceOf(service, { name: 'Alerts', verify: { scheme: 'bearer' } })
  await send(feedback({ note: 'Export fails' }, { uuid: 'sent-as-1' }))
  await send(feedback({ sentiment: 'furious', note: 'Not valid' }))
  await forms.send({ title: 'Contact me' }, { id: 'form-1' })
  await alerts.send({ text: 'Disk full' })
  return { send, forms, alerts, projectId }
}

describe('what arrived at all doors', () => {
  test('is filtered by door, project, outcome, and the sender’s ID, which the address keeps', async ({
    app,
  }) => {
    const { forms, projectId } = await givenDeliveries(app)
    const page = await app.open('/incoming')
    await titles(page).toEqual(['No tasks', 'Contact me', 'Furious: Not valid', 'Frustrated: Export fails'])

    await choose(page, { filter: 'Way in', value: 'Forms' })
    await titles(page).toEqual(['Contact me'])
    await choose(page, { filter: 'Way in', value: 'Feedback' })
    await titles(page).toEqual(['Furious: Not valid', 'Frustrated: Export fails'])
    await choose(page, { filter: 'Outcome', value: 'Rejected' })
    await titles(page).toEqual(['Furious: Not valid'])
    await expect.poll(() => new URL(page.url()).search).toBe('?receiver=feedback&outcome=rejected')
    await page.reload()
    await titles(page).toEqual(['Furious: Not valid'])

    await page.goto(`${app.service.url}/incoming?projectId=${projectId}`)
    await titles(page).toEqual(['Contact me'])
    await page.goto(`${app.service.url}/incoming`)
    await page.getByRole('searchbox', { name: 'Sender’s ID' }).pressSequentially('sent-as-1')
    await titles(page).toEqual(['Frustrated: Export fails'])
    await expect.poll(() => new URL(page.url()).search).toBe('?senderId=sent-as-1')
    await page.getByRole('searchbox', { name: 'Sender’s ID' }).fill('sent-as')
    await page.getByText('Enter the whole ID').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Show all deliveries' }).click()
    await titles(page).toHaveLength(4)
    await expectNone(page, page.getByRole('alert'))

    await page.goto(`${app.service.url}/settings/sources`)
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Forms' })
      .getByRole('link', { name: 'Deliveries' })
      .click()
    await page.waitForURL(`${app.service.url}/incoming?sourceId=${forms.source.id}`)
    await titles(page).toEqual(['Contact me'])
  })

  test('opens with its payload and tasks, has an address, and closes with Back', async ({ app }) => {
    await givenDeliveries(app)
    const [delivery] = (await app.service.get('/api/deliveries?senderId=form-1')).body.data
    const page = await app.open('/incoming')
    await page.getByRole('button', { name: 'Contact me' }).click()
    const row = rowWith(page, 'Contact me')
    await row.getByText('form-1').waitFor()
    await row.getByText('"title": "Contact me"').waitFor()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/incoming?delivery=${delivery.id}`)
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 32)).toEqual([])
    await page.reload()
    await row.getByText('"title": "Contact me"').waitFor()
    await row.getByRole('button', { name: 'Contact me' }).click()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/incoming`)
    await row.getByRole('button', { name: 'Contact me' }).click()
    await page.goBack()
    await row.getByText('form-1').waitFor({ state: 'detached' })
    // A link may name one that the filter leaves out.
    await page.goto(`${app.service.url}/settings/feedback-deliveries?delivery=${delivery.id}`)
    await row.getByText('"title": "Contact me"').waitFor()
    await expect.poll(() => new URL(page.url()).search).toBe(`?receiver=feedback&delivery=${delivery.id}`)
    await row.getByRole('link', { name: 'Contact me' }).click()
    await page.getByRole('heading', { name: 'Contact me' }).waitFor()
    await page.goto(`${app.service.url}/incoming?outcome=none&delivery=none`)
    await titles(page).toHaveLength(4)
    await expectNone(page, page.getByRole('alert'))
  })

  test('loads the payload of what is opened once, and no other', async ({ app }) => {
    await givenDeliveries(app)
    await forgetActivity(app)
    const page = await app.open('/incoming')
    const loaded: string[] = []
    page.on('request', (request) => {
      const [, id] = /\/api\/deliveries\/([^/?]+)$/.exec(request.url()) ?? []
      if (id) loaded.push(id)
    })
    await page.reload()
    await titles(page).toHaveLength(4)
    await rowWith(page, 'Furious: Not valid').getByRole('button', { name: 'Replay' }).waitFor()
    await page.getByRole('button', { name: 'Contact me' }).click()
    await rowWith(page, 'Contact me').getByText('"title": "Contact me"').waitFor()
    expect(loaded).toHaveLength(1)
  })

  test('loads a page of fifty with few requests', async ({ app }) => {
    const { send } = await sourceOf(app.service)
    for (let number = 1; number <= 50; number++) await send({ title: `Sent ${number}` })
    const page = await app.open('/incoming')
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/')) requests.push(pathname)
    })
    await page.reload()
    await rowWith(page, 'Sent 50').waitFor()
    await page.getByRole('button', { name: 'Show older deliveries' }).click()
    await titles(page).toHaveLength(50)
    await page.getByRole('link', { name: 'Triage' }).getByText('50').waitFor()
    expect(requests.filter((path) => path.startsWith('/api/tasks/'))).toEqual([])
    expect(requests.length).toBeLessThan(20)
  })

  test('says why feedback was rejected, and leads to a new source', async ({ app }) => {
    await givenDeliveries(app)
    const page = await app.open('/incoming?receiver=feedback')
    const row = rowWith(page, 'Furious: Not valid')
    await row.getByText('The event is not valid feedback.').waitFor()
    await row.getByText('/properties/sentiment').waitFor()
    await row.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Delivery replayed and rejected again').waitFor()
    await row.getByRole('button', { name: 'Furious: Not valid' }).click()
    await row.getByRole('link', { name: 'Make a source from this' }).click()
    await page.waitForURL(/\/settings\/sources\?source=new&delivery=/)
    await page.getByRole('heading', { name: 'Add a source' }).waitFor()
  })

  test('says why a source made nothing, and replays it once its template is corrected', async ({ app }) => {
    const { alerts } = await givenDeliveries(app)
    const page = await app.open(`/incoming?sourceId=${alerts.source.id}`)
    const row = rowWith(page, 'Rejected')
    await row.getByText('Nothing in it makes a valid task.').waitFor()
    await row.getByRole('link', { name: 'Open source' }).waitFor()
    const template = { title: '{{ payload.text }}' }
    await app.service.patch(`/api/sources/${alerts.source.id}`, { template })
    await row.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Delivery replayed and accepted').waitFor()
    await rowWith(page, 'Disk full').getByText('Accepted').waitFor()
  })

  testCodehost('says why a change of the code host was not applied, and applies it', async ({ app }) => {
    const { service } = app
    const { project, repository, about, report, send } = await pushedTo(service)
    const gone = repository.issue({ title: 'Came back' })
    await send({
      event: 'issues',
      payload: { action: 'opened', repository: repositoryJson(service.host.url, about) },
    })
    await send({ event: 'push', payload: {} })
    await send(report(gone, 'opened'))
    const page = await app.open(`/incoming?receiver=codehost&projectId=${project.id}`)
    await rowWith(page, 'Issue #1 opened').getByText('Accepted').waitFor({ timeout: 15_000 })
    await rowWith(page, 'push').getByText('This event is not used.').waitFor()
    const failed = rowWith(page, 'Failed')
    await failed.getByText('The payload has no issue, pull request or comment.').waitFor()
    await failed.getByText('Replay it.').waitFor()
    const row = rowWith(page, 'Issue #1 opened')
    await row.getByRole('button', { name: 'Issue #1 opened' }).click()
    await row.getByRole('link', { name: 'Came back' }).waitFor()
    await row.getByRole('button', { name: 'Replay' }).click()
    await row.getByText('Nothing changed.').waitFor({ timeout: 15_000 })
    expect(await violationsOn(page)).toEqual([])
  })

  test('appears at the top by itself, and waits further down', async ({ app }) => {
    const { send } = await givenDeliveries(app)
    for (let number = 0; number < 20; number++) await send(feedback({ note: `Report ${number}` }))
    const page = await app.open('/incoming?receiver=feedback')
    await rowWith(page, 'Report 19').waitFor()
    await send(feedback({ note: 'Seen at once' }))
    await rowWith(page, 'Seen at once').waitFor({ timeout: 10_000 })
    await rowWith(page, 'Report 2').last().scrollIntoViewIfNeeded()
    await page.mouse.wheel(0, 600)
    await send(feedback({ note: 'Waits' }))
    await page.getByRole('button', { name: '1 new' }).waitFor({ timeout: 10_000 })
    await expectNone(page, rowWith(page, 'Waits'))
    await page.getByRole('button', { name: '1 new' }).click()
    await rowWith(page, 'Waits').waitFor()
    await expectNone(page, page.getByRole('button', { name: '1 new' }))
  })

  test('fits a phone in the dark, and says what to do while nothing has arrived', async ({ app }) => {
    const phone = { viewport: { width: 390, height: 780 }, colorScheme: 'dark', hasTouch: true } as const
    const page = await app.open('/incoming', phone)
    await page.getByText('Nothing has arrived yet').waitFor()
    await page.getByRole('link', { name: 'Add a source' }).waitFor()
    await givenDeliveries(app)
    await titles(page).toHaveLength(4)
    await page.getByRole('button', { name: 'Furious: Not valid' }).click()
    await page.getByRole('link', { name: 'Make a source from this' }).waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 44)).toEqual([])
  })

  test('is shown without payloads to who may only read', async ({ app }) => {
    const { projectId } = await givenDeliveries(app)
    const key = await app.service.given.key({ scopes: ['tasks:read'], projectId })
    const page = await app.open('/incoming', { key })
    await titles(page).toEqual(['Contact me'])
    await page.getByRole('button', { name: 'Contact me' }).click()
    await page.getByText('form-1').waitFor()
    await expectNone(page, page.getByRole('button', { name: 'Replay' }))
  })
})
