import { beforeEach, describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, collectErrors, expectNone, testTogether as test } from './support/browser.ts'
import { pressAtOnce } from './support/keys.ts'

const dialogOf = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })
const headingOf = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

/** Real clicks would be slower than the browser is on its way back. */
const PRESS_CLOSE_AND_ADD = `
  document.querySelector('.mantine-Modal-close').click()
  document.querySelector('main header button').click()
`

describe('a dialog with an address', () => {
  let ruleId: string

  beforeEach<{ app: AppInBrowser }>(async ({ app }) => {
    const { post } = app.service
    const { body: project } = await post('/api/projects', { name: `Routed ${crypto.randomUUID()}` })
    const rule = { name: 'Linked', appMatch: 'com.example.linked', targetProjectId: project.id }
    ruleId = (await post('/api/webhook-routing', rule)).body.id
  })

  /** Comes from another page and opens the dialog. */
  async function openNewRule(app: AppInBrowser): Promise<Page> {
    const page = await app.open('/settings/sessions')
    await page.getByRole('link', { name: 'Webhook routing' }).click()
    await page.getByRole('button', { name: 'Add rule' }).click()
    await dialogOf(page, 'Add rule').waitFor()
    return page
  }

  test('is opened by its link, and stays open over a reload', async ({ app }) => {
    const page = await app.open(`/settings/routing?rule=${ruleId}&other=1`)
    await dialogOf(page, 'Edit rule').waitFor()
    await page.reload()
    await dialogOf(page, 'Edit rule').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page, 'Edit rule').waitFor({ state: 'detached' })
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/routing?other=1`)
  })

  test('is closed by Back and opened again by Forward', async ({ app }) => {
    const page = await openNewRule(app)
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/routing?rule=new`)
    await page.goBack()
    await dialogOf(page, 'Add rule').waitFor({ state: 'detached' })
    await expect.poll(() => headingOf(page, 'Webhook routing').isVisible()).toBe(true)
    await page.goForward()
    await dialogOf(page, 'Add rule').waitFor()
    await page.reload()
    await dialogOf(page, 'Add rule').waitFor()
    await page.goBack()
    await dialogOf(page, 'Add rule').waitFor({ state: 'detached' })
    await page.goBack()
    await headingOf(page, 'Sessions').waitFor()
  })

  test.for([{ keys: ['Escape'] }, { keys: ['Escape', 'Escape'] }])(
    'leaves nothing behind after $keys',
    async ({ keys }, { app }) => {
      const page = await openNewRule(app)
      await pressAtOnce(page, keys)
      await dialogOf(page, 'Add rule').waitFor({ state: 'detached' })
      await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/routing`)
      await page.goBack()
      await headingOf(page, 'Sessions').waitFor()
    },
  )

  test('is left for another page by keys that follow at once', async ({ app }) => {
    const page = await openNewRule(app)
    await pressAtOnce(page, ['Escape', 'g', 't'])
    await page.waitForURL(/\/triage$/)
    await dialogOf(page, 'Add rule').waitFor({ state: 'detached' })
    await page.goBack()
    await headingOf(page, 'Webhook routing').waitFor()
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/routing`)
  })

  test('is opened again at once after it was closed', async ({ app }) => {
    const page = await openNewRule(app)
    const errors = collectErrors(page)
    await page.evaluate(PRESS_CLOSE_AND_ADD)
    await dialogOf(page, 'Add rule').waitFor()
    await page.goBack()
    await dialogOf(page, 'Add rule').waitFor({ state: 'detached' })
    await page.goBack()
    await headingOf(page, 'Sessions').waitFor()
    expect(errors).toEqual([])
  })

  test('shows the page alone when what it names does not exist', async ({ app }) => {
    const page = await app.open(`/settings/routing?rule=${crypto.randomUUID()}`)
    const errors = collectErrors(page)
    await page.getByRole('button', { name: 'Actions for Linked' }).first().waitFor()
    await expectNone(page, page.getByRole('dialog'))
    await expectNone(page, page.getByRole('alert'))
    expect(errors).toEqual([])
  })

  test('tells who has no access so', async ({ app }) => {
    const { body: created } = await app.service.post('/api/keys', { name: 'reads', scopes: ['tasks:read'] })
    const page = await app.open(`/settings/routing?rule=${ruleId}`, { key: created.key })
    await headingOf(page, 'Access denied').waitFor()
    await expectNone(page, page.getByRole('dialog'))
  })
})
