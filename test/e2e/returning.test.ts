import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, panelOf, rowOf, test } from './support/browser.ts'

const topOf = (page: Page) => page.evaluate(`document.querySelector('[data-list]')?.scrollTop`)

const scrollTo = (page: Page, top: number) =>
  page.evaluate(`document.querySelector('[data-list]').scrollTop = ${top}`)

async function givenTasks(app: AppInBrowser, count: number) {
  const { inbox } = await app.service.given.project({ name: 'Long list' })
  for (let number = 0; number < count; number++)
    await app.service.given.task(inbox, { title: `Task ${number}.` })
}

describe('a list that was scrolled', () => {
  test('is where it was after a reload, and on the way back from another page', async ({ app }) => {
    await givenTasks(app, 90)
    const page = await app.open('/tasks')
    await rowOf(page, 'Task 89.').waitFor()
    await scrollTo(page, 1_200)
    await rowOf(page, 'Task 55.').waitFor()
    await page.reload()
    await rowOf(page, 'Task 55.').waitFor()
    await expect.poll(() => topOf(page)).toBe(1_200)

    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('heading', { name: 'AI instructions' }).waitFor()
    await page.goBack()
    await expect.poll(() => topOf(page)).toBe(1_200)

    // A link to it begins at the top.
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('heading', { name: 'AI instructions' }).waitFor()
    await page.getByRole('link', { name: /^All tasks/ }).click()
    await rowOf(page, 'Task 89.').waitFor()
    expect(await topOf(page)).toBe(0)
  })

  test('loads as many tasks as it had', async ({ app }) => {
    await givenTasks(app, 260)
    const page = await app.open('/tasks')
    await rowOf(page, 'Task 259.').waitFor()
    await expect
      .poll(async () => {
        await scrollTo(page, 1_000_000)
        return rowOf(page, 'Task 0.').count()
      })
      .toBe(1)
    const top = await topOf(page)
    await page.reload()
    await rowOf(page, 'Task 0.').waitFor()
    expect(await topOf(page)).toBe(top)
  })
})

describe('on paper', () => {
  test('is the list without what surrounds it, with all rows that are loaded', async ({ app }) => {
    await givenTasks(app, 60)
    const page = await app.open('/tasks', { viewport: { width: 1280, height: 400 }, colorScheme: 'dark' })
    await rowOf(page, 'Task 59.').waitFor()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await rowOf(page, 'Task 0.').waitFor()
    await expect.poll(() => page.getByRole('complementary', { name: 'Sidebar' }).isVisible()).toBe(false)
    await expect.poll(() => page.getByRole('search').isVisible()).toBe(false)
    await expect.poll(() => rowOf(page, 'Task 0.').getByRole('button').isVisible()).toBe(false)
    const colours = `(({ color }) => [color, getComputedStyle(document.body).backgroundColor])(
      getComputedStyle(document.querySelector('[data-task] a')))`
    expect(await page.evaluate(colours)).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
    const tops = `[...document.querySelectorAll('[data-task]')].map((row) => row.getBoundingClientRect().top)`
    expect(new Set((await page.evaluate(tops)) as number[]).size).toBe(60)
    await page.emulateMedia({ media: 'screen' })
    await rowOf(page, 'Task 0.').waitFor({ state: 'detached' })
  })

  test('is the open task alone', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Printed', description: 'Its text' })
    const page = await app.open(`/tasks/${id}`)
    await panelOf(page).getByText('Its text').waitFor()
    await page.emulateMedia({ media: 'print' })
    await panelOf(page).getByText('Its text').waitFor()
    await expect.poll(() => page.getByRole('region', { name: 'Tasks' }).isVisible()).toBe(false)
    await expect.poll(() => panelOf(page).getByRole('button', { name: 'Close task' }).isVisible()).toBe(false)
  })
})
