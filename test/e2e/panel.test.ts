import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import {
  createTask,
  delayRequests,
  expectNone,
  panelOf,
  rowOf,
  smallTargets,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'

const LONG_TITLE = 'Titles as long as they may be '.repeat(17).slice(0, 500).trim()
const TITLES = {
  'of 500 characters': LONG_TITLE,
  'without a space': 'x'.repeat(500),
  'right to left': 'الصفحة (v2.1) لا تعمل!',
  'with emoji': '🔥 Crash 👩‍👩‍👧‍👦 on export 🏳️‍🌈',
}
const LABELS = Array.from({ length: 20 }, (_, index) => `label ${index + 1} ${'x'.repeat(index * 4)}`)

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const SCREENS = [
  PHONE,
  { viewport: { width: 768, height: 1024 } },
  { viewport: { width: 1280, height: 720 }, colorScheme: 'dark' as const },
]

/** Text that is wider than the page or its panel. */
const overflowOf = (page: Page) =>
  page.evaluate(`Math.max(
    document.documentElement.scrollWidth - innerWidth,
    document.querySelector('[data-panel]').scrollWidth - document.querySelector('[data-panel]').clientWidth)`)

describe('the panel', () => {
  for (const screen of SCREENS)
    test(`shows the text without scrolling at ${screen.viewport.width} px`, async ({ app }) => {
      for (const [name, title] of Object.entries(TITLES)) {
        const { id } = await createTask(app, {
          title,
          labels: LABELS,
          assignees: ['ada', 'grace.hopper'],
          externalId: `external-${name}`,
          description: 'The **first** line',
        })
        const page = await app.open(`/tasks/${id}`, screen)
        const text = panelOf(page).locator('strong', { hasText: 'first' })
        await text.waitFor()
        await panelOf(page).getByText('+18').waitFor()
        const { y = Number.NaN } = (await text.boundingBox()) ?? {}
        expect(y, name).toBeLessThan(screen.viewport.height - 20)
        expect(await overflowOf(page), name).toBe(0)
        expect(await violationsOn(page), name).toEqual([])
        const small = await smallTargets(page, screen === PHONE ? 44 : 32)
        expect(
          small.filter((target) => /INPUT (Status|Priority|List)|(Previous|Next) task|external/.test(target)),
          name,
        ).toEqual([])
        await page.close()
      }
    })

  test('has chips that are controls, all of them for the keyboard', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Chips', labels: LABELS })
    const page = await app.open(`/tasks/${id}`)
    const properties = panelOf(page).getByRole('region', { name: 'Properties' })
    await properties.getByRole('combobox', { name: 'Priority' }).press('Enter')
    await page.getByRole('option', { name: 'High' }).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await taskOf(app, id)).priority).toBe('high')
    for (const name of ['Labels', 'Assignees']) {
      await page.keyboard.press('Tab')
      if (name === 'Labels') await page.keyboard.press('Tab')
      await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(name)
      // All of the labels while they are edited.
      if (name === 'Labels') await expect.poll(() => properties.getByText(/^label \d+ ?x*$/).count()).toBe(20)
    }
    await page.keyboard.type('ada')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await taskOf(app, id)).assignees).toEqual(['ada'])
  })

  test('opens the next and the previous task of the list', async ({ app }) => {
    for (const title of ['Third', 'Second', 'First']) await createTask(app, { title })
    const page = await app.open('/tasks', PHONE)
    await rowOf(page, 'First').getByRole('link').click()
    for (const [name, title] of [
      ['Next', 'Second'],
      ['Next', 'Third'],
      ['Previous', 'Second'],
    ]) {
      await panelOf(page)
        .getByRole('button', { name: `${name} task` })
        .click()
      await panelOf(page)
        .getByRole('heading', { name: title ?? '' })
        .waitFor()
    }
    // Back leads to the list.
    await page.goBack()
    await panelOf(page).waitFor({ state: 'detached' })
  })

  test('wraps a long title while it is edited, and Enter saves it', async ({ app }) => {
    const { id } = await createTask(app, { title: LONG_TITLE })
    const page = await app.open(`/tasks/${id}`, { viewport: { width: 1280, height: 720 } })
    await panelOf(page).getByRole('button', { name: LONG_TITLE }).click()
    const field = panelOf(page).getByRole('textbox', { name: 'Title' })
    const hidden = (node: unknown) => {
      const { scrollHeight, clientHeight } = node as { scrollHeight: number; clientHeight: number }
      return scrollHeight - clientHeight
    }
    await expect.poll(() => field.evaluate(hidden)).toBeLessThanOrEqual(0)
    await field.fill('Two\nlines')
    await field.press('Enter')
    await expect.poll(async () => (await taskOf(app, id)).title).toBe('Two lines')
  })

  test('never shows Markdown that is not formatted', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Formatted', description: 'Some **bold** text' })
    const page = await app.open('/sign-in')
    const releaseWorker = await delayRequests(page, { url: /assets\/worker/ })
    const releaseRendering = await delayRequests(page, { url: /assets\/markdown-rendered/ })
    await page.goto(`${app.service.url}/tasks/${id}`)
    const text = panelOf(page).getByRole('region', { name: 'Description' })
    await text.locator('[data-markdown-loading]').waitFor()
    await expectNone(page, text.getByText('**'))
    releaseRendering()
    await expect.poll(() => text.locator('[dir="auto"] [data-markdown-loading]').count()).toBe(1)
    await expectNone(page, text.getByText('**'))
    releaseWorker()
    await text.locator('strong', { hasText: 'bold' }).waitFor()
  })
})
