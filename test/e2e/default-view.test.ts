import { describe, expect } from 'vitest'
import { type AppInBrowser, createTask, expectNone, rowOf, test, violationsOn } from './support/browser.ts'

async function givenEachStatus(app: AppInBrowser) {
  for (const [title, status] of [
    ['Waiting', 'open'],
    ['Begun', 'in_progress'],
    ['Finished', 'done'],
  ]) {
    const { id } = await createTask(app, { title, labels: ['kept'] })
    if (status !== 'open') await app.service.patch(`/api/tasks/${id}`, { status })
  }
}

describe('the task page', () => {
  test('shows what is open or in progress, until that filter is removed', async ({ app }) => {
    await givenEachStatus(app)
    const page = await app.open('/tasks')
    for (const title of ['Waiting', 'Begun']) await rowOf(page, title).waitFor()
    await expectNone(page, rowOf(page, 'Finished'))
    await page.getByRole('button', { name: 'Status: Open, In progress' }).waitFor()
    await expectNone(page, page.getByRole('button', { name: 'Save filter' }))
    expect(await violationsOn(page)).toEqual([])

    await page.getByRole('button', { name: 'Remove filter Status' }).press('Enter')
    await rowOf(page, 'Finished').waitFor()
    expect(new URL(page.url()).search).toBe('?status=all')
    await rowOf(page, 'Finished').getByRole('link').click()
    await page.getByRole('button', { name: 'Close task' }).click()
    await rowOf(page, 'Finished').waitFor()
    await page.getByRole('link', { name: /All tasks/ }).click()
    await rowOf(page, 'Finished').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
  })

  test('shows what an address with filters says', async ({ app }) => {
    await givenEachStatus(app)
    const page = await app.open('/tasks?label=["kept"]')
    await rowOf(page, 'Finished').waitFor()
    await expect.poll(() => page.locator('[data-task]').count()).toBe(3)
    await page.goto(`${app.service.url}/tasks?status=["done"]`)
    await rowOf(page, 'Finished').waitFor()
    await expectNone(page, rowOf(page, 'Waiting'))
  })

  test('keeps to it while other filters are added, saved, and cleared', async ({ app }) => {
    await givenEachStatus(app)
    const page = await app.open('/tasks')
    await page.getByRole('searchbox', { name: 'Search tasks' }).fill('kept')
    await page.waitForURL(/q=kept/)
    await rowOf(page, 'Waiting').waitFor()
    await expectNone(page, rowOf(page, 'Finished'))
    await page.getByRole('button', { name: 'Save filter' }).click()
    await page.getByRole('dialog', { name: 'Save filter' }).getByLabel('Name').fill('Kept')
    await page.keyboard.press('Enter')
    const saved = page.getByRole('link', { name: 'Kept 2 tasks', exact: true })
    await saved.waitFor()
    await page.getByRole('searchbox', { name: 'Search tasks' }).fill('')
    await page.waitForURL(/\/tasks$/)
    await saved.click()
    await page.waitForURL(/q=kept/)
    await rowOf(page, 'Begun').waitFor()
    await expectNone(page, rowOf(page, 'Finished'))
  })

  test('opens a saved filter without a status with what is done', async ({ app }) => {
    await givenEachStatus(app)
    await app.service.post('/api/saved-filters', { name: 'Everything', query: {} })
    const page = await app.open('/settings/keys')
    await page.getByRole('link', { name: 'Everything 3 tasks', exact: true }).click()
    await rowOf(page, 'Finished').waitFor()
  })

  test('says that nothing is open, and shows what is done', async ({ app }) => {
    for (const title of ['One', 'Two']) {
      const { id } = await createTask(app, { title })
      await app.service.patch(`/api/tasks/${id}`, { status: 'done' })
    }
    const page = await app.open('/tasks')
    await page.getByRole('heading', { name: 'Nothing is open' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Show 2 done tasks' }).click()
    await rowOf(page, 'One').waitFor()

    await page.getByRole('link', { name: /All tasks/ }).click()
    await page.getByRole('searchbox', { name: 'Search tasks' }).fill('two')
    await page.getByRole('heading', { name: 'No matching tasks' }).waitFor()
    await page.getByRole('button', { name: 'Show 1 done task' }).click()
    await rowOf(page, 'Two').waitFor()
    await expectNone(page, rowOf(page, 'One'))
  })

  test('shows and hides what is done by the command palette', async ({ app }) => {
    await givenEachStatus(app)
    const page = await app.open('/tasks')
    await rowOf(page, 'Waiting').waitFor()
    for (const [command, count] of [
      ['show done', 3],
      ['hide done', 2],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(command)
      await page.keyboard.press('Enter')
      await expect.poll(() => page.locator('[data-task]').count()).toBe(count)
    }
  })
})
