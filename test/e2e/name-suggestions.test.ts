import { describe, expect } from 'vitest'
import { createTask, delayRequests, panelOf, rowOf, taskOf, test } from './support/browser.ts'

describe('suggestions', () => {
  test('of labels come from the API, and Enter selects the highlighted one', async ({ app }) => {
    for (let count = 0; count < 2; count++)
      await createTask(app, { title: `Debugged ${count}`, labels: ['debugging'] })
    await createTask(app, { title: 'Labelled', labels: ['bug-report'] })
    // The page holds no task with these labels.
    const page = await app.open('/tasks?q=nothing')
    await page.getByText('No matching tasks').waitFor()
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const labels = page.getByRole('combobox', { name: 'Filter by label' })
    await page.getByRole('option', { name: 'debugging' }).waitFor()
    await labels.pressSequentially('bug')
    const highlighted = page.locator('[data-combobox-selected]')
    await expect.poll(() => highlighted.getAttribute('value')).toBe('bug-report')
    await labels.press('Enter')
    await page.waitForURL(/label=%5B%22bug-report%22%5D/)
    await labels.pressSequentially('bug')
    await expect.poll(() => highlighted.getAttribute('value')).toBe('debugging')
    await labels.press('Enter')
    await page.waitForURL(/debugging/)
  })

  test('that load slowly are awaited by Enter', async ({ app }) => {
    await createTask(app, { title: 'Labelled', labels: ['regression'] })
    await createTask(app, { title: 'Not labelled' })
    const page = await app.open('/tasks')
    const release = await delayRequests(page, { url: /\/api\/labels/ })
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const labels = page.getByRole('combobox', { name: 'Filter by label' })
    await labels.pressSequentially('regr')
    await labels.press('Enter')
    release()
    await page.waitForURL(/label=%5B%22regression%22%5D/)
    await rowOf(page, 'Not labelled').waitFor({ state: 'detached' })
  })

  test('of an edited task allow new names', async ({ app }) => {
    await createTask(app, { title: 'Other', labels: ['crash-report'], assignees: ['ada'] })
    const task = await createTask(app, { title: 'Edited' })
    // The list has no task with these names.
    const page = await app.open(`/tasks/${task.id}?q=nothing`)
    await page.getByText('No matching tasks').waitFor()
    const labels = panelOf(page).getByRole('combobox', { name: 'Labels' })
    await labels.pressSequentially('crash')
    await page.getByRole('option', { name: 'crash-report' }).waitFor()
    await labels.press('Enter')
    await expect.poll(async () => (await taskOf(app, task.id)).labels).toEqual(['crash'])
    await labels.pressSequentially('crash')
    await page.getByRole('option', { name: 'crash-report' }).click()
    await expect.poll(async () => (await taskOf(app, task.id)).labels).toEqual(['crash', 'crash-report'])
    const assignees = panelOf(page).getByRole('combobox', { name: 'Assignees' })
    await assignees.click()
    await page.getByRole('option', { name: 'ada' }).click()
    await expect.poll(async () => (await taskOf(app, task.id)).assignees).toEqual(['ada'])
  })
})
