import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, panelOf, rowOf, test } from './support/browser.ts'

const statusOf = async ({ service }: AppInBrowser, id: string) =>
  (await service.get(`/api/tasks/${id}`)).body.status

const focused = (page: Page) => page.evaluate('document.activeElement.textContent')

describe('the keyboard', () => {
  test('moves the focus between tasks, with one Tab stop', async ({ app }) => {
    const { inbox } = await app.service.given.project()
    for (let number = 1; number <= 60; number++) {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 100 - number))
      await app.service.given.task(inbox, { title: `Task ${number}`, createdAt })
    }
    const page = await app.open('/tasks')
    await rowOf(page, 'Task 1').first().waitFor()
    const stops = page.locator('[data-task] a[tabindex="0"]')
    await expect.poll(() => stops.allTextContents()).toEqual(['Task 1'])
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Task 1')
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Task 2')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('Task 3')
    await page.keyboard.press('k')
    await expect.poll(() => focused(page)).toBe('Task 2')
    await expect.poll(() => stops.allTextContents()).toEqual(['Task 2'])

    // Rows that are drawn only when they come into sight.
    for (let count = 0; count < 40; count++) await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Task 42')
    await page.locator('[data-task] a:focus').waitFor({ state: 'visible' })

    // It keeps its place while the list is scrolled elsewhere, and in the list when its task goes.
    await page.getByRole('region', { name: 'List of tasks' }).evaluate('(list) => list.scrollTo(0, 0)')
    await rowOf(page, 'Task 1').first().waitFor()
    await expect.poll(() => focused(page)).toBe('Task 42')
    await page.keyboard.press('#')
    await page.getByText('Deleted: Task 42').waitFor()
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('List of tasks')
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe('Task 43')
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('Task 43').waitFor()
  })

  test('leaves the list with Tab', async ({ app }) => {
    for (const title of ['Below', 'Above']) await app.service.post('/api/tasks', { title })
    const page = await app.open('/tasks')
    await page.getByRole('link', { name: 'Above' }).focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('Below')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.closest("[data-task]")')).toBeNull()
  })

  test('keeps the focused task when new tasks appear above it', async ({ app }) => {
    const { body: meant } = await app.service.post('/api/tasks', { title: 'Meant by the keyboard' })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor()
    await page.keyboard.press('j')
    const { body: other } = await app.service.post('/api/tasks', { title: 'Came in above' })
    await page.getByRole('link', { name: 'Came in above' }).waitFor()
    await page.keyboard.press('#')
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor({ state: 'detached' })
    await expect.poll(async () => (await app.service.get(`/api/tasks/${meant.id}`)).status).toBe(404)
    expect(await statusOf(app, other.id)).toBe('open')
  })

  test('applies to the open task even if the list does not contain it', async ({ app }) => {
    const { body: open } = await app.service.post('/api/tasks', { title: 'Open elsewhere' })
    await app.service.post('/api/tasks', { title: 'A high one', priority: 'high' })
    const page = await app.open(`/tasks/${open.id}?priority=["high"]`, { isLive: true })
    await page.getByRole('link', { name: 'A high one' }).waitFor()
    await panelOf(page).getByText('Open elsewhere').waitFor()
    await page.keyboard.press('e')
    await expect.poll(() => statusOf(app, open.id)).toBe('done')
  })

  test('adds a label and keeps one that someone else added meanwhile', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', {
      title: 'Labelled by two',
      labels: ['first'],
    })
    const page = await app.open('/tasks?q=labelled')
    // This page receives no updates.
    await page.route(/updatedSince/, (route) => route.abort())
    await page.getByRole('link', { name: 'Labelled by two' }).hover()
    await page.getByLabel('Select Labelled by two').check()
    await app.service.patch(`/api/tasks/${task.id}`, { labels: ['first', 'theirs'] })
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('combobox', { name: 'Label to add' }).fill('mine')
    await page.keyboard.press('Enter')
    const labels = async () => (await app.service.get(`/api/tasks/${task.id}`)).body.labels
    await expect.poll(labels).toEqual(['first', 'theirs', 'mine'])
    await page.getByText('Label mine added: Labelled by two').waitFor()
    await page.keyboard.press('z')
    await expect.poll(labels).toEqual(['first', 'theirs'])
  })
})
