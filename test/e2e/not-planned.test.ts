import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { createTask, delayRequests, panelOf, rowOf, taskOf, test, violationsOn } from './support/browser.ts'

const NOT_PLANNED = { status: 'done', closedReason: 'not_planned' }

const circleOf = (page: Page, title: string) => rowOf(page, title).getByRole('button', { name: /: / })

describe('a task that is not planned', () => {
  test('is closed in its panel, shown at once, and opened again by undo', async ({ app }) => {
    const { inbox } = await app.service.given.project()
    // Without activity, for which the row would be requested while it shows the change.
    const { id } = await app.service.given.task(inbox, { title: 'Dropped', status: 'in_progress' })
    const page = await app.open(`/tasks/${id}?status=all`, { isLive: true })
    const panel = panelOf(page)
    const status = panel.getByRole('combobox', { name: 'Status' })
    await rowOf(page, 'Dropped').waitFor()
    const release = await delayRequests(page, { url: `**/api/tasks/${id}`, method: 'PATCH' })
    await status.click()
    await page.getByRole('option', { name: 'Not planned' }).click()
    await expect.poll(() => status.inputValue()).toBe('Not planned')
    await expect.poll(() => circleOf(page, 'Dropped').getAttribute('title')).toBe('Not planned')
    release()
    await page.getByText('Not planned: Dropped').waitFor()
    expect(await taskOf(app, id)).toMatchObject(NOT_PLANNED)
    await panel.getByText('closed the task as not planned').waitFor()
    expect(await violationsOn(page)).toEqual([])

    await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone: “Not planned: Dropped”').waitFor()
    expect(await taskOf(app, id)).toMatchObject({ status: 'in_progress', closedReason: null })
    await expect.poll(() => status.inputValue()).toBe('In progress')
  })

  test('stays so if it is opened and that is undone, until it is set to done', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Kept closed' })
    await app.service.patch(`/api/tasks/${id}`, NOT_PLANNED)
    const page = await app.open('/tasks?status=all')
    await circleOf(page, 'Kept closed').click()
    await page.getByText('Reopened: Kept closed').waitFor()
    await page.keyboard.press('z')
    await page.getByText('Undone: “Reopened: Kept closed”').waitFor()
    expect(await taskOf(app, id)).toMatchObject(NOT_PLANNED)
    for (const key of ['j', 's', 'd', 'o', 'n', 'e', 'Enter']) await page.keyboard.press(key)
    await page.getByText('Done: Kept closed').waitFor()
    expect(await taskOf(app, id)).toMatchObject({ status: 'done', closedReason: 'completed' })
    await page.keyboard.press('z')
    await page.getByText('Undone: “Done: Kept closed”').waitFor()
    expect(await taskOf(app, id)).toMatchObject(NOT_PLANNED)
  })

  test('is as it was if the change is refused', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Refused' })
    const page = await app.open(`/tasks/${id}?status=all`, { isLive: true })
    const status = panelOf(page).getByRole('combobox', { name: 'Status' })
    await page.route(`**/api/tasks/${id}`, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 403, json: { code: 'managed_by_codehost', detail: 'Not here.' } })
        : route.continue(),
    )
    await status.click()
    await page.getByRole('option', { name: 'Not planned' }).click()
    await page.getByRole('alert').filter({ hasText: "Couldn't update the task" }).waitFor()
    await expect.poll(() => status.inputValue()).toBe('Open')
    await rowOf(page, 'Refused').getByRole('button', { name: 'Mark done: Refused' }).waitFor()
  })

  test('is closed with others, in the selection bar and by keyboard', async ({ app }) => {
    const tasks = [await createTask(app, { title: 'First' }), await createTask(app, { title: 'Second' })]
    const stored = async () =>
      Promise.all(
        tasks.map(async ({ id }) => {
          const { status, closedReason } = await taskOf(app, id)
          return { status, closedReason }
        }),
      )
    const page = await app.open('/tasks?status=all')
    await rowOf(page, 'First').waitFor()
    for (const key of ['j', 'Shift+J']) await page.keyboard.press(key)
    const opened = await stored()
    for (const key of ['s', 'n', 'o', 't', 'Enter']) await page.keyboard.press(key)
    await page.getByText('2 tasks: Not planned.').waitFor()
    expect(await stored()).toEqual([NOT_PLANNED, NOT_PLANNED])
    await page.keyboard.press('z')
    await page.getByText('Undone: “2 tasks: Not planned”').waitFor()
    expect(await stored()).toEqual(opened)
    await page.getByRole('toolbar').getByRole('button', { name: 'Status' }).click()
    await page.getByRole('menuitem', { name: 'Not planned' }).click()
    await expect.poll(stored).toEqual([NOT_PLANNED, NOT_PLANNED])
    await expect.poll(() => circleOf(page, 'Second').getAttribute('title')).toBe('Not planned')
  })
})
