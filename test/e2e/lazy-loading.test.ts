import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { delayRequests, rowOf, test } from './support/browser.ts'

const focused = (page: Page) =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')

/** As on a slow machine, where an animation takes all of the time. */
const NEVER_IDLE =
  'window.requestIdleCallback = (callback, { timeout } = {}) => (timeout ? setTimeout(callback, timeout) : 0)'

const MENUS = /assets\/open-menu/

describe('a lazy component', () => {
  test('is preloaded and opens while the service is down', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Seen before' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Seen before').waitFor()
    await page.mouse.move(300, 300)
    const fetched = () =>
      page.evaluate('performance.getEntriesByType("resource").map(({ name }) => name).join(" ")')
    for (const part of ['help-dialog', 'open-menu', 'sign-in-dialog', 'new-task-dialog'])
      await expect.poll(fetched).toContain(part)
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Status: Open, In progress' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Done' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  })

  test('is loaded also by a browser that is never idle', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Shown' })
    const page = await app.open('/sign-in')
    await page.addInitScript(NEVER_IDLE)
    await page.goto(`${app.service.url}/tasks`)
    await rowOf(page, 'Shown').waitFor()
    await page.keyboard.press('z')
    await page.getByText('Nothing to undo').waitFor()
  })

  test('blocks shortcuts while it loads, then opens', async ({ app }) => {
    const task = (await app.service.post('/api/tasks', { title: 'Not meant' })).body
    const page = await app.open('/sign-in')
    const release = await delayRequests(page, { url: MENUS })
    await page.goto(`${app.service.url}/tasks/${task.id}`)
    await rowOf(page, 'Not meant').waitFor()
    await page.getByRole('button', { name: 'Status: Open, In progress' }).press('Enter')
    await page.locator('[aria-busy="true"]').waitFor()
    await page.keyboard.type('ec?')
    release()
    await page.getByRole('menuitemcheckbox', { name: 'Open' }).waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect((await app.service.get(`/api/tasks/${task.id}`)).body.status).toBe('open')
  })

  test('keeps text typed for a new task before its dialog is loaded', async ({ app }) => {
    const task = (await app.service.post('/api/tasks', { title: 'Not meant either' })).body
    const page = await app.open('/sign-in')
    const release = await delayRequests(page, { url: /assets\/new-task-dialog/ })
    await page.goto(`${app.service.url}/tasks`)
    await rowOf(page, 'Not meant either').waitFor()
    await page.keyboard.press('j')
    // In one go, as fast as keys come.
    await page.keyboard.type('cexport ')
    await page.getByRole('dialog', { name: 'New task' }).getByText('Loading the other fields').waitFor()
    await page.keyboard.type('fai')
    release()
    const title = page.getByRole('dialog', { name: 'New task' }).getByRole('textbox', { name: 'Title' })
    await page.getByRole('dialog').getByLabel('Description').waitFor()
    await page.keyboard.type('ls')
    await expect.poll(() => title.inputValue()).toBe('export fails')
    expect(await page.evaluate('document.activeElement.value')).toBe('export fails')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Not meant either')
    expect((await app.service.get(`/api/tasks/${task.id}`)).body.status).toBe('open')
    // What was typed is there again.
    await page.keyboard.type('c again')
    await expect.poll(() => title.inputValue()).toBe('export fails again')
  })

  test('keeps text typed for a new task when its dialog cannot be loaded', async ({ app }) => {
    const task = (await app.service.post('/api/tasks', { title: 'Still open' })).body
    const page = await app.open('/sign-in')
    const { promise: typed, resolve: fail } = Promise.withResolvers<void>()
    await page.route(/assets\/new-task-dialog/, async (route) => {
      await typed
      await route.abort()
    })
    await page.goto(`${app.service.url}/tasks/${task.id}`)
    await rowOf(page, 'Still open').waitFor()
    await page.keyboard.type('ce')
    const title = page.getByRole('dialog', { name: 'New task' }).getByLabel('Title')
    await expect.poll(() => title.inputValue()).toBe('e')
    fail()
    const dialog = page.getByRole('dialog', { name: "Couldn't open this dialog" })
    await dialog.waitFor()
    await page.keyboard.type('e#')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await app.service.get(`/api/tasks/${task.id}`)).body.status).toBe('open')
    await page.unroute(/assets\/new-task-dialog/)
    await page.reload()
    await rowOf(page, 'Still open').waitFor()
    await page.keyboard.press('c')
    await expect.poll(() => title.inputValue()).toBe('e')
  })

  test('enters text typed for the search box of another page', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Crash on export' })
    const page = await app.open('/settings/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.keyboard.type('/crash')
    await page.waitForURL(/q=crash/)
    await rowOf(page, 'Crash on export').waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })

  test('does not open when the focus moved elsewhere meanwhile', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Searched for' })
    const page = await app.open('/sign-in')
    const release = await delayRequests(page, { url: MENUS })
    await page.goto(`${app.service.url}/tasks`)
    await rowOf(page, 'Searched for').waitFor()
    await page.getByRole('button', { name: 'Status: Open, In progress' }).click()
    await page.getByRole('searchbox', { name: 'Search tasks' }).fill('searched')
    release()
    const status = page.getByRole('button', { name: 'Status: Open, In progress' })
    await page.locator('button[aria-busy="true"]').waitFor({ state: 'detached' })
    await page.waitForURL(/q=searched/)
    await expect.poll(() => focused(page)).toBe('Search tasks')
    await expect.poll(() => status.getAttribute('aria-expanded')).toBe('false')
    await status.click()
    await page.getByRole('menuitemcheckbox', { name: 'Open' }).waitFor()
  })

  test('shows an error in its place when it cannot be loaded', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Still shown' })
    const page = await app.open('/sign-in')
    await page.route(/assets\/(open-menu|selection-bar|toasts)/, (route) => route.abort())
    await page.goto(`${app.service.url}/tasks`)
    await page.getByText("Couldn't load part of this page").waitFor()
    await page.getByLabel('Select Still shown').check({ force: true })
    await expect.poll(() => page.getByRole('button', { name: 'Reload page' }).count()).toBe(2)
    await rowOf(page, 'Still shown').waitFor()
    await page.unroute(/assets\/(open-menu|selection-bar|toasts)/)
    await page.getByRole('button', { name: 'Reload page' }).last().click()
    await page.getByRole('button', { name: 'Status: Open, In progress' }).click()
    await page.getByRole('menu').waitFor()
  })

  test('returns the focus to its button', async ({ app }) => {
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'Status: Open, In progress' }).press('Enter')
    // Once as it was fetched, once as it is there.
    for (const _ of ['first', 'again']) {
      await expect.poll(() => focused(page)).toBe('Open')
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe('Status: Open, In progress')
      await page.keyboard.press('Enter')
    }
  })

  test('returns the focus to its button on a phone', async ({ app }) => {
    const page = await app.open('/tasks', { viewport: { width: 390, height: 844 } })
    for (const _ of ['first', 'again']) {
      await page.getByRole('button', { name: 'Open menu' }).press('Enter')
      await page.getByRole('dialog').getByRole('link', { name: 'All tasks' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe('Open menu')
    }
  })
})
