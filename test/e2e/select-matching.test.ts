import { describe, expect } from 'vitest'
import { delayRequests, rowOf, test } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

describe('all tasks that match', () => {
  test('are selected on a phone by a button that is not cut', async ({ app }) => {
    const [list] = await app.service.query('select id from lists limit 1')
    const tasks = Array.from({ length: 35 }, (_, n) => ({ title: `Match ${n}` }))
    await app.service.post('/api/tasks/bulk', { listId: list.id, tasks })
    const page = await app.open('/tasks', PHONE)
    await page.getByLabel('Select Match 34').press('Space')
    const bar = page.getByRole('toolbar', { name: 'Selected tasks' })
    const all = bar.getByRole('button', { name: 'Select all 35 that match' })
    await all.waitFor()
    const cut = `[...document.querySelectorAll('[role="toolbar"] .mantine-Button-label')].filter((label) =>
      label.checkVisibility({ visibilityProperty: true }) && label.scrollWidth > label.clientWidth
    ).map((label) => label.textContent)`
    await expect.poll(() => page.evaluate(cut)).toEqual([])
    await all.tap()
    await page.getByText('35 selected').waitFor()
  })

  test('are selected, changed with progress, and changed back', async ({ app }) => {
    const [list] = await app.service.query('select id from lists limit 1')
    for (let batch = 0; batch < 4; batch++) {
      const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Match ${batch} ${n}` }))
      await app.service.post('/api/tasks/bulk', { listId: list.id, tasks })
    }
    await app.service.post('/api/tasks', { title: 'Other' })
    const done = async () => {
      const [row] = await app.service.query(`select count(*)::int as n from tasks where status = 'done'`)
      return row.n
    }
    const page = await app.open('/tasks?q=match')
    await rowOf(page, 'Match 3 99').getByRole('checkbox').check()

    await page.getByRole('button', { name: 'Select all 400 that match' }).click()
    await page.getByText('400 selected').waitFor()
    const release = await delayRequests(page, { url: '**/api/tasks/bulk', method: 'PATCH' })
    await page.getByRole('button', { name: 'Mark done', exact: true }).click()

    await page.getByRole('status').filter({ hasText: 'Updating tasks: 0 of 400' }).waitFor()
    release()
    await page.getByText('400 tasks: Done.').waitFor()
    await expect.poll(done).toBe(400)
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect.poll(done).toBe(0)
  })

  test('are changed by keys, also those that are not loaded', async ({ app }) => {
    const [list] = await app.service.query('select id from lists limit 1')
    for (let batch = 0; batch < 4; batch++) {
      const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Match ${batch} ${n}` }))
      await app.service.post('/api/tasks/bulk', { listId: list.id, tasks })
    }
    const countOf = async (condition: string) => {
      const [row] = await app.service.query(`select count(*)::int as n from tasks where ${condition}`)
      return row.n
    }
    const page = await app.open('/tasks?q=match')
    async function selectAll() {
      await rowOf(page, 'Match 3 99').getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Select all 400 that match' }).click()
      await page.getByText('400 selected').waitFor()
      await rowOf(page, 'Match 3 99').getByRole('link').focus()
    }

    await selectAll()
    await page.keyboard.press('e')
    await page.getByText('400 tasks: Done.').waitFor()
    await expect.poll(() => countOf(`status = 'done'`)).toBe(400)
    await page.keyboard.press('z')
    await expect.poll(() => countOf(`status = 'done'`)).toBe(0)

    await selectAll()
    await page.keyboard.press('l')
    await page.keyboard.type('sorted')
    await page.keyboard.press('Enter')
    await page.getByText('400 tasks: Label sorted added.').waitFor()
    expect(await countOf(`'sorted' = any(labels)`)).toBe(400)
  })

  test('can be stopped', async ({ app }) => {
    const [list] = await app.service.query('select id from lists limit 1')
    for (let batch = 0; batch < 4; batch++) {
      const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Match ${batch} ${n}` }))
      await app.service.post('/api/tasks/bulk', { listId: list.id, tasks })
    }
    const page = await app.open('/tasks?q=match')
    await rowOf(page, 'Match 3 99').getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Select all 400 that match' }).click()
    await page.getByText('400 selected').waitFor()
    const stop = page.getByRole('button', { name: 'Stop', exact: true })
    await page.route('**/api/tasks/bulk', async (route) => {
      await stop.click({ timeout: 5_000 }).catch(() => {})
      await route.continue()
    })

    await page.getByRole('button', { name: 'Mark done', exact: true }).click()

    await page.getByText('100 tasks: Done.').waitFor()
    const [row] = await app.service.query(`select count(*)::int as n from tasks where status = 'done'`)
    expect(row.n).toBe(100)
  })
})
