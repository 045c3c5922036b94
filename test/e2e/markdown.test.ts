import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, collectErrors, createTask, panelOf, test } from './support/browser.ts'

/** 6 KB of which each row would be filled up to 300 cells: 750,000. */
const WIDE_TABLE = `${'|a'.repeat(300)}\n${'|-'.repeat(300)}\n${'b\n'.repeat(2_500)}`
/** Each mark is compared with each other one: the first 20,000 characters take about 2 s, all of them 25 s. */
const MARKS = '*a_ '.repeat(16_000)
/** The same marks after a start that is formatted at once. */
const MARKS_LATER = `${'Some text. '.repeat(2_000)}${'*a_ '.repeat(10_000)}`
/** The parser has 2 s for a text, and the page first shows up to 20,000 characters of it. */
const MAX_WAIT_MS = 10_000

/** For how many milliseconds the page did one thing at a time. */
const LONG_TASKS = `
  window.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
`
/** A machine that is busy takes a second to open any task; on the main thread the marks alone take four seconds. */
const MAX_LONG_TASK_MS = 3_000

const longestTaskOf = (page: Page) => page.evaluate('Math.max(0, ...longTasks)')

async function openWith(app: AppInBrowser, description: string) {
  const task = await createTask(app, { title: 'Formatted', description })
  const page = await app.open('/tasks', { isLive: true })
  const pageErrors = collectErrors(page)
  await page.evaluate(LONG_TASKS)
  await page.getByRole('link', { name: 'Formatted' }).click()
  const text = panelOf(page).getByRole('region', { name: 'Description' })
  return { task, page, text, pageErrors }
}

const lengthOf = ({ textContent }: { textContent: string | null }) => textContent?.length

/** No long task while the text was parsed, and a click works afterwards. */
async function expectResponsive(page: Page) {
  expect(await longestTaskOf(page)).toBeLessThan(MAX_LONG_TASK_MS)
  await panelOf(page).getByRole('button', { name: 'Mark done' }).click()
  await page.getByText('Done: Formatted').waitFor()
}

describe('a description', () => {
  test('is plain text when padding its table would make it too large', async ({ app }) => {
    const { page, text, pageErrors } = await openWith(app, WIDE_TABLE)
    await text.getByText('too complex to display').waitFor()
    await text.locator('pre').waitFor()
    await expectResponsive(page)
    expect(pageErrors).toEqual([])
  })

  test('is plain text when formatting takes too long', async ({ app }) => {
    const { page, text, pageErrors } = await openWith(app, MARKS)
    // A fast machine formats the start in time and offers the rest.
    const more = text.getByRole('button', { name: 'Show all 64,000 characters' })
    const notice = text.getByText('formatting took too long')
    await more.or(notice).first().waitFor({ timeout: MAX_WAIT_MS })
    if (await more.isVisible()) await more.click()
    await notice.waitFor({ timeout: MAX_WAIT_MS })
    await text.locator('pre').waitFor()
    await expectResponsive(page)
    expect(pageErrors).toEqual([])
  })

  test('still shows its start while the rest is formatted', async ({ app }) => {
    const { page, text } = await openWith(app, MARKS_LATER)
    await text.getByRole('button', { name: 'Show all 62,000 characters' }).click()
    await text.getByRole('button', { name: 'Formatting all 62,000 characters…' }).waitFor()
    const start = text.locator('p', { hasText: /^Some text\./ })
    await expect.poll(() => start.evaluate(lengthOf)).toBeGreaterThan(19_000)
    await text.getByText('formatting took too long').waitFor({ timeout: MAX_WAIT_MS })
    await expectResponsive(page)
  })

  test('is formatted completely, in chunks', async ({ app }) => {
    const { page, text } = await openWith(
      app,
      `${'Some *text* with `code`.\n\n'.repeat(500)}The **very** end`,
    )
    await text.locator('strong', { hasText: 'very' }).waitFor()
    await expect.poll(() => text.locator('em').count()).toBe(500)
    expect(await longestTaskOf(page)).toBeLessThan(MAX_LONG_TASK_MS)
  })

  test('is plain text when the formatter cannot be loaded', async ({ app }) => {
    const task = await createTask(app, { title: 'Unformatted', description: 'Some *text*' })
    const page = await app.open('/sign-in')
    await page.route(/assets\/worker/, (route) => route.abort())
    await page.goto(`${app.service.url}/tasks/${task.id}`)
    const text = panelOf(page).getByRole('region', { name: 'Description' })
    await text.getByText("couldn't load the formatter").waitFor()
    await text.locator('pre', { hasText: 'Some *text*' }).waitFor()
  })
})
