import { describe, expect } from 'vitest'
import { createTask, rowOf, test } from './support/browser.ts'

describe('the filter bar', () => {
  test('adds, changes and removes a filter with keys alone', async ({ app }) => {
    await createTask(app, { title: 'Hers', assignees: ['ada'] })
    await createTask(app, { title: 'Nobody’s' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Nobody’s').waitFor()

    await page.getByRole('button', { name: 'Filters' }).press('Enter')
    await page.locator('[aria-label="Filters"] button:focus', { hasText: 'Assignee' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.locator('[aria-label="Filter by assignee"]:focus').waitFor()
    await page.keyboard.type('ad')
    await page.keyboard.press('Enter')
    await rowOf(page, 'Nobody’s').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Assignee: ada', exact: true }).waitFor()
    await page.reload()
    await rowOf(page, 'Hers').waitFor()
    await expect.poll(() => rowOf(page, 'Nobody’s').count()).toBe(0)

    await page.getByRole('button', { name: 'Remove filter Assignee' }).press('Enter')
    await rowOf(page, 'Nobody’s').waitFor()
  })

  test('has numbers, external ids and times', async ({ app }) => {
    await createTask(app, { title: 'External', externalId: 'x-1' })
    await createTask(app, { title: 'Plain' })
    const page = await app.open('/tasks', { viewport: { width: 1600, height: 860 } })
    const add = async (name: string, value: string) => {
      await page.getByRole('button', { name: 'Filters' }).click()
      await page.getByRole('button', { name, exact: true }).click()
      await page.locator(`input[aria-label="${name}"]`).fill(value)
      await page.getByRole('button', { name: 'Apply' }).click()
    }

    await add('External ID', 'x-1')
    await rowOf(page, 'Plain').waitFor({ state: 'detached' })
    await rowOf(page, 'External').waitFor()
    await add('Issue number', '#12')
    await page.getByText('No matching tasks').waitFor()
    await page.getByRole('button', { name: 'Remove filter Issue number' }).click()
    await rowOf(page, 'External').waitFor()
    await add('Updated since', '2099-01-01')
    await page.getByText('No matching tasks').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rowOf(page, 'Plain').waitFor()
  })

  test('is usable on a phone', async ({ app }) => {
    await createTask(app, { title: 'Small', assignees: ['ada'] })
    const page = await app.open('/tasks?assignee=["ada"]', { viewport: { width: 390, height: 844 } })
    await rowOf(page, 'Small').waitFor()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByRole('button', { name: 'Kind', exact: true }).click()
    await page.getByText('Pull requests', { exact: true }).click()
    await page.getByText('No matching tasks').waitFor()
  })
})

describe('saved filters', () => {
  test('of the browser move to the service, once', async ({ app }) => {
    await createTask(app, { title: 'Urgent', priority: 'high' })
    const page = await app.open('/settings/keys')
    await page.evaluate(`localStorage.setItem('inlet-filters', JSON.stringify([
      { name: 'Mine', filters: { priority: ['high'] } },
      { name: 'Gone', filters: { projectId: '01890000-0000-7000-8000-000000000000' } },
    ]))`)
    await page.reload()

    await page.getByRole('link', { name: 'Mine 1 task', exact: true }).waitFor()

    await expect.poll(() => page.evaluate(`localStorage.getItem('inlet-filters')`)).toBe(null)
    await page.reload()
    await page.getByRole('link', { name: 'Mine 1 task', exact: true }).click()
    await rowOf(page, 'Urgent').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Actions for filter/ }).count()).toBe(1)
  })
})
