import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, panelOf, rowOf, test, violationsOn } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const boxOf = (page: Page, selector: string) =>
  page.evaluate(
    `(({ top, bottom, left, right }) => ({ top, bottom, left, right }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`,
  ) as Promise<Record<'top' | 'bottom' | 'left' | 'right', number>>

async function openWithTasks(app: AppInBrowser, options: object) {
  for (const title of ['First', 'Second']) await app.service.post('/api/tasks', { title })
  const page = await app.open('/tasks', { ...options, isLive: true })
  await rowOf(page, 'First').waitFor()
  return page
}

/** Marks one task done, so that this can be taken back, and selects the other. */
async function showBoth(page: Page) {
  await page.getByRole('button', { name: 'Mark done: First' }).click()
  await page.getByText('Done: First').waitFor()
  await page.getByLabel('Select Second').press('Space')
  await page.getByRole('toolbar', { name: 'Selected tasks' }).waitFor()
}

describe('a narrow page', () => {
  test('has names for all dialogs', async ({ app }) => {
    const page = await openWithTasks(app, PHONE)
    await page.getByRole('button', { name: 'Open menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'All tasks' }).waitFor()
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByRole('dialog', { name: 'New project' }).getByLabel('Name').waitFor()
    await page.getByRole('dialog', { name: 'New project' }).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog', { name: 'New project' }).waitFor({ state: 'detached' })
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByRole('dialog', { name: 'New task' }).getByLabel('Description').waitFor()
    await page.getByRole('dialog', { name: 'New task' }).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await rowOf(page, 'First').getByRole('link').click()
    await page.getByRole('complementary', { name: 'Task' }).getByRole('heading', { name: 'First' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
  })

  test('closes one thing at a time with Escape', async ({ app }) => {
    const page = await openWithTasks(app, PHONE)
    const menu = page.getByRole('dialog', { name: 'Menu' })
    const dialog = page.getByRole('dialog', { name: 'New project' })
    await page.getByRole('button', { name: 'Open menu' }).click()
    await menu.getByRole('button', { name: 'New project' }).click()
    await dialog.getByLabel('Name').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await menu.getByRole('button', { name: 'New project' }).waitFor()
    await menu.getByRole('button', { name: 'switch project' }).click()
    await page.getByRole('menuitemradio', { name: 'All projects' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menuitemradio').first().waitFor({ state: 'detached' })
    await menu.getByRole('button', { name: 'New project' }).waitFor()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
  })

  for (const [name, options] of [
    ['a phone', PHONE],
    ['a desktop', {}],
  ] as const) {
    test(`shows what can be taken back above what is selected, on ${name}`, async ({ app }) => {
      const page = await openWithTasks(app, options)
      await showBoth(page)
      await expect
        .poll(async () => {
          const toast = await boxOf(page, '.mantine-Notification-root')
          const bar = await boxOf(page, '[role="toolbar"]')
          return bar.top - toast.bottom
        })
        .toBeGreaterThanOrEqual(0)
      // The toast moves down when the bar closes.
      await page.getByRole('button', { name: 'Clear selection' }).click()
      await page.getByRole('toolbar').waitFor({ state: 'detached' })
      await expect
        .poll(() => page.evaluate('document.documentElement.style.getPropertyValue("--bar-height")'))
        .toBe('')
    })
  }

  test.for([820, 900, 1024])('has no action behind the open task at %i px', async (width, { app }) => {
    const { inbox } = await app.service.given.project({ name: 'Mobile app' })
    const opened = await app.service.given.task(inbox, { title: 'Opened' })
    const assignees = ['grace.hopper', 'ada']
    const other = await app.service.given.task(inbox, { title: 'Beside it', assignees, labels: ['crash'] })
    const page = await app.open(`/tasks/${opened.id}`, { viewport: { width, height: 844 } })
    const panel = panelOf(page)
    await panel.getByText('Mobile app', { exact: true }).waitFor()
    const row = rowOf(page, 'Beside it')
    await row.getByRole('img', { name: 'Assigned to grace.hopper, ada' }).getByText('GH').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)

    await row.getByRole('checkbox').check()
    const bar = page.getByRole('toolbar', { name: 'Selected tasks' })
    const more = bar.getByRole('button', { name: 'More actions' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Priority' }).click()
    await page.getByRole('option', { name: 'High' }).click()
    await page.getByText('Priority high: Beside it').waitFor()
    expect((await app.service.get(`/api/tasks/${other.id}`)).body.priority).toBe('high')
    await row.getByRole('checkbox').check()
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete' }).click({ trial: true })
    await page.keyboard.press('Escape')
    await bar.getByRole('button', { name: 'Clear selection' }).click()
    await panel.getByRole('button', { name: 'Mark done' }).click({ trial: true })
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByRole('dialog', { name: 'New task' }).waitFor()
  })

  test('has all bulk actions on a phone, in one line and its menu', async ({ app }) => {
    const page = await openWithTasks(app, PHONE)
    await showBoth(page)
    const bar = page.getByRole('toolbar')
    const shown = `[...document.querySelectorAll('[role="toolbar"] :is(button, strong)')].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }))`
    const cut = `${shown}.flatMap((element) => {
      const { left, right } = element.getBoundingClientRect()
      return left < 0 || right > innerWidth || element.scrollWidth > element.clientWidth ? [element.textContent] : []
    })`
    await expect.poll(() => page.evaluate(cut)).toEqual([])
    expect((await bar.boundingBox())?.height).toBeLessThan(64)
    await bar.getByText('1 selected').waitFor()
    await bar.getByRole('button', { name: 'Mark done' }).click({ trial: true })
    await bar.getByRole('button', { name: 'More actions' }).click()
    for (const name of ['Priority', 'Add label', 'Move', 'Delete'])
      await page.getByRole('menuitem', { name }).click({ trial: true })
    expect(await violationsOn(page)).toEqual([])
  })

  for (const [name, options] of [
    ['a phone', PHONE],
    ['a desktop', {}],
  ] as const) {
    test(`covers no row with a toast, on ${name}`, async ({ app }) => {
      for (let number = 0; number < 30; number++) await createTask(app, { title: `Task ${number}.` })
      const page = await app.open('/tasks', { ...options, isLive: true })
      await page.getByRole('button', { name: 'Mark done: Task 29.' }).click()
      await page.getByText('Done: Task 29.').waitFor()
      const bottoms = async () => {
        const toast = await boxOf(page, '.mantine-Notification-root')
        const list = await boxOf(page, '[data-list]')
        return toast.top - list.bottom
      }
      await expect.poll(bottoms).toBeGreaterThanOrEqual(0)
      await page.locator('[data-list]').evaluate((list) => {
        const element = list as unknown as { scrollTop: number; scrollHeight: number }
        element.scrollTop = element.scrollHeight
      })
      await page.getByRole('button', { name: 'Mark done: Task 0.' }).click()
      await page.getByText('Done: Task 0.').waitFor()
    })
  }

  test('keeps the highlighted row in sight when a toast takes its room', async ({ app }) => {
    for (let number = 0; number < 30; number++) await createTask(app, { title: `Task ${number}.` })
    const page = await app.open('/tasks', { viewport: { width: 1280, height: 700 } })
    await page.getByRole('link', { name: 'Task 29.' }).waitFor()
    const hidden = async () => {
      const row = await boxOf(page, '[data-task][aria-current]')
      const list = await boxOf(page, '[data-list]')
      return row.bottom - list.bottom
    }
    for (let index = 0; index < 25; index++) await page.keyboard.press('j')
    const before = await boxOf(page, '[data-list]')
    await page.keyboard.press('e')
    await expect.poll(async () => (await boxOf(page, '[data-list]')).bottom).toBeLessThan(before.bottom)
    await expect.poll(hidden).toBeLessThanOrEqual(0)
  })
})
