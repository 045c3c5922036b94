import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, test } from './support/browser.ts'
import { press, pressAtOnce } from './support/keys.ts'
import { copyTask } from './support/many-tasks.ts'

const MANY = 20_000
/** The service counts to this, and so many are changed at once. */
const MAX = 10_000
const A_WHILE = { timeout: 120_000 }
const MAX_ROWS = 120
const MAX_HEAP_BYTES = 150_000_000

const rowsOf = (page: Page) => page.locator('[data-task]')

async function triagedIn({ service }: AppInBrowser): Promise<number> {
  const [row] = await service.query('select count(*)::int as n from tasks where triaged')
  return row.n
}

describe('20,000 tasks to triage', () => {
  test('are decided by keys at once, and accepted in parts that can be stopped and undone', async ({
    app,
  }) => {
    await createTask(app, { title: 'Task 0' })
    await copyTask(app, MANY)
    const page = await app.open('/triage')
    await page.getByText('10,000+ left').waitFor()
    await page.getByRole('link', { name: 'Task 8', exact: true }).waitFor()

    const ids = await rowsOf(page).evaluateAll((rows) => rows.slice(0, 8).map((row) => row.dataset.task))
    await pressAtOnce(page, ['y', 'e', 'n', 'y', 'e', 'n', 'y', 'e'])
    await expect.poll(() => triagedIn(app), A_WHILE).toBe(8)
    const decided = await app.service.query('select id, status, closed_reason from tasks where triaged')
    const outcomes = new Map(decided.map(({ id, status, closed_reason }) => [id, closed_reason ?? status]))
    const keys = ['open', 'done', 'not_planned', 'open', 'done', 'not_planned', 'open', 'done']
    expect(ids.map((id) => outcomes.get(id))).toEqual(keys)

    await page.getByRole('button', { name: 'Accept the first 10,000' }).click()
    const dialog = page.getByRole('dialog', { name: 'Accept the first 10,000 tasks?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await triagedIn(app)).toBe(8)

    const accept = async () => {
      await page.getByRole('button', { name: 'Accept the first 10,000' }).click()
      await dialog.getByRole('button', { name: 'Accept 10,000' }).click()
    }
    await accept()
    const progress = page.getByRole('status').filter({ hasText: /Updating tasks: [1-9][\d,]* of 10,000/ })
    await progress.waitFor(A_WHILE)
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    const toast = page.getByText(/^[\d,]+ tasks: Accepted\.$/)
    await toast.waitFor(A_WHILE)
    const accepted = Number((await toast.innerText()).replace(/\D/g, ''))
    expect(accepted % 100).toBe(0)
    expect(accepted).toBeLessThan(MAX)
    expect(await triagedIn(app)).toBe(8 + accepted)
    await page.keyboard.press('z')
    await expect.poll(() => triagedIn(app), A_WHILE).toBe(8)

    let listRequests = 0
    page.on('request', (request) => {
      if (/sort=createdAt&.*cursor=/.test(request.url())) listRequests++
    })
    await accept()
    await page.getByText('10,000 tasks: Accepted.').waitFor(A_WHILE)
    expect(await triagedIn(app)).toBe(8 + MAX)
    await page.getByText('9,992 left').waitFor(A_WHILE)
    await page.getByRole('link', { name: `Task ${MAX + 9}`, exact: true }).waitFor()
    await expect.poll(() => rowsOf(page).count()).toBeLessThan(MAX_ROWS)
    // What is accepted is read once, and not shown page after page.
    expect(listRequests).toBeLessThan(MAX / 200 + 15)
    expect(await page.evaluate('performance.memory.usedJSHeapSize')).toBeLessThan(MAX_HEAP_BYTES)
  })
})

describe('many that arrive at once', () => {
  const tasksOf = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => ({ title: `${name} ${index + 1}.` }))

  for (const circumstance of ['the list is scrolled', 'the page is offline'])
    test(`are counted, and loaded, while ${circumstance}`, async ({ app }) => {
      const { listId } = await createTask(app, { title: 'Old 0.' })
      const create = (tasks: object[]) => app.service.post('/api/tasks/bulk', { listId, tasks })
      await create(tasksOf(48, 'Old'))
      const page = await app.open('/triage', { isLive: true })
      await page.getByRole('link', { name: 'Old 0.' }).waitFor()
      await press(page, ...Array(39).fill('j'))
      const highlighted = page.locator('[data-task][aria-current]').filter({ hasText: 'Old 39.' })
      await highlighted.waitFor()
      const isOffline = circumstance.includes('offline')
      if (isOffline) {
        await page.context().setOffline(true)
        await page.getByText('You are offline').waitFor()
        app.service.app.server.closeAllConnections()
      }
      await create(tasksOf(70, 'New'))
      await page.context().setOffline(false)
      await page.getByText('119 left').waitFor()
      await page.getByRole('link', { name: 'Triage 119' }).waitFor()
      await highlighted.waitFor()
      await press(page, ...Array(79).fill('j'))
      await page.locator('[data-task][aria-current]').filter({ hasText: 'New 70.' }).waitFor()
      await page.getByRole('button', { name: 'Accept all 119' }).click()
      await page.getByText('Nothing left to triage').waitFor()
      await expect.poll(() => triagedIn(app)).toBe(119)
    })
})
