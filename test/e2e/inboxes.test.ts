import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, storing } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'
import { expectNone, testWith } from './support/browser.ts'

const test = testWith(() => startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))

describe('an inbox', () => {
  test('has its filter and the open delivery in its address', async ({ app }) => {
    const store = await storing(app.service, feedback({ note: 'Is in the address' }))
    await store()
    const [delivery] = (await app.service.get('/api/deliveries')).body.data
    const page = await app.open('/settings/feedback-deliveries')
    await page.getByText('Accepted', { exact: true }).click()
    await page.getByRole('button', { name: 'Show payload' }).click()
    const hide = page.getByRole('button', { name: 'Hide payload' })
    await hide.waitFor()
    const path = `/settings/feedback-deliveries?outcome=accepted&delivery=${delivery.id}`
    await expect.poll(() => page.url()).toBe(app.service.url + path)
    await page.goBack()
    await hide.waitFor({ state: 'detached' })
    await page.goForward()
    await hide.waitFor()
    // A link may name one that the filter leaves out, or that is older than those shown.
    await page.goto(
      `${app.service.url}/settings/feedback-deliveries?outcome=rejected&delivery=${delivery.id}`,
    )
    await hide.waitFor()
    await page.getByText('Ignored', { exact: true }).click()
    await hide.waitFor({ state: 'detached' })
    await expect
      .poll(() => page.url())
      .toBe(`${app.service.url}/settings/feedback-deliveries?outcome=ignored`)
    await page.goto(`${app.service.url}/settings/feedback-deliveries?outcome=none&delivery=none`)
    await page.getByRole('button', { name: 'Show payload' }).waitFor()
    await expectNone(page, page.getByRole('alert'))
  })

  test('of a source is left with all that it has in the address', async ({ app }) => {
    const { send } = await sourceOf(app.service)
    await send({ title: 'Arrived' })
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Deliveries', exact: true }).click()
    await page.getByText('Accepted', { exact: true }).click()
    await page.getByRole('button', { name: 'Show payload' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Hide payload' }).waitFor()
    await page.getByRole('button', { name: 'Back to sources' }).click()
    await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/sources`)
  })
})

describe('the editor of a source', () => {
  test('has an address with its preset, and keeps its draft and payload, but no secret', async ({ app }) => {
    const page = await app.open('/settings/sources?source=new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Kept source')
    await page.getByRole('textbox', { name: 'Payload' }).fill('{"title": "Kept payload"}')
    await page.getByLabel('Secret').fill('whsec_not_to_be_stored')
    await page.getByRole('button', { name: 'Back to sources' }).click()
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Kept source')
    await page.getByRole('tree').getByText('Kept payload').waitFor()
    await page.getByRole('article', { name: 'Kept payload' }).waitFor()
    const stored = (await page.evaluate('JSON.stringify(sessionStorage)')) as string
    expect(stored).toContain('Kept source')
    expect(stored).not.toContain('not_to_be_stored')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.goto(`${app.service.url}/settings/sources?source=new&preset=alertmanager_alerts`)
    await page.getByRole('button', { name: 'Remove payload.alerts (A task for each)' }).waitFor()
    await page.goto(`${app.service.url}/settings/sources?source=${crypto.randomUUID()}`)
    await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor()
    await expectNone(page, page.getByRole('alert'))
  })
})
