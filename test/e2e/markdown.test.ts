import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { complaintsOf, createTask, type Desk, panelOf, test } from './support/browser.ts'

/** 20 KB of which each row would be filled up to 300 cells: almost three million. */
const WIDE_TABLE = `${'|a'.repeat(300)}\n${'|-'.repeat(300)}\n${'b\n'.repeat(9_400)}`
/** Each mark is compared with each other one: some machines are done in time, others show it plain. */
const MARKS = '*a_ '.repeat(5_000)

/** For how many milliseconds the page did one thing at a time. */
const LONG_TASKS = `
  window.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
`
/** A machine that is busy takes a second to open any task; on the main thread the marks alone take four seconds. */
const MAX_LONG_TASK_MS = 3_000

const longestTaskOf = (page: Page) => page.evaluate('Math.max(0, ...longTasks)')

async function openWith(desk: Desk, description: string) {
  const task = await createTask(desk, { title: 'Formatted', description })
  const page = await desk.open('/tasks', { isLive: true })
  const complaints = complaintsOf(page)
  await page.evaluate(LONG_TASKS)
  await page.getByRole('link', { name: 'Formatted' }).click()
  const text = panelOf(page).getByRole('region', { name: 'Description' })
  return { task, page, text, complaints }
}

describe('a description', () => {
  test.for([
    ['a table that would be filled up', WIDE_TABLE],
    ['marks that all could belong together', MARKS],
  ] as const)('never holds up the page: %s', async ([, description], { desk }) => {
    const { page, text, complaints } = await openWith(desk, description)
    const plain = text.getByText(/too complex to display|took too long/)
    await plain
      .or(text.locator('p', { hasText: '*a_ *a_' }))
      .first()
      .waitFor()
    if (description === WIDE_TABLE) await text.locator('pre').waitFor()
    expect(await longestTaskOf(page)).toBeLessThan(MAX_LONG_TASK_MS)
    await panelOf(page).getByRole('button', { name: 'Mark done' }).click()
    await page.getByText('Done: Formatted').waitFor()
    expect(complaints).toEqual([])
  })

  test('is formatted to its end, in pieces', async ({ desk }) => {
    const { page, text } = await openWith(
      desk,
      `${'Some *text* with `code`.\n\n'.repeat(500)}The **very** end`,
    )
    await text.locator('strong', { hasText: 'very' }).waitFor()
    await expect.poll(() => text.locator('em').count()).toBe(500)
    expect(await longestTaskOf(page)).toBeLessThan(MAX_LONG_TASK_MS)
  })

  test('is shown as it came where the formatter cannot be had', async ({ desk }) => {
    const task = await createTask(desk, { title: 'Unformatted', description: 'Some *text*' })
    const page = await desk.open('/sign-in')
    await page.route(/assets\/worker/, (route) => route.abort())
    await page.goto(`${desk.service.url}/tasks/${task.id}`)
    const text = panelOf(page).getByRole('region', { name: 'Description' })
    await text.getByText('the formatter could not be loaded').waitFor()
    await text.locator('pre', { hasText: 'Some *text*' }).waitFor()
  })
})
