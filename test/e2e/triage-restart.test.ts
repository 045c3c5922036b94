import { afterEach, describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { freePort } from '../support/free-port.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, rowOf, signIn, taskOf, testWith } from './support/browser.ts'
import { openAndClosePalette } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

afterEach(cleanUp)

const A_WHILE = { timeout: 90_000 }

/** The page of a process of its own, which can be killed, on the same database. */
async function openOnProcess({ service, open }: AppInBrowser) {
  const env = { DATABASE_URL: service.connectionString, PORT: String(await freePort()) }
  let inlet = spawnInlet({ env })
  const url = await inlet.url
  const page = await open('/sign-in', { key: null })
  await signIn(page.context(), { url, key: ADMIN_KEY })
  await page.goto(`${url}/triage`)
  await page.getByText(/\d+ left/).waitFor()
  // What the page needs to say so is loaded once it is used.
  await openAndClosePalette(page)
  await page.locator('.mantine-Notifications-root').first().waitFor({ state: 'attached' })
  return {
    page,
    async kill() {
      inlet.process.kill('SIGKILL')
      await inlet.ended
    },
    async start() {
      inlet = spawnInlet({ env })
      await inlet.url
    },
  }
}

interface Interruption {
  page: Page
  url: string
  /** The number of the request. */
  at: number
  kill(): Promise<void>
}

/** Kills the service when the page sends one of its requests. */
async function killAt({ page, url, at, kill }: Interruption): Promise<void> {
  let count = 0
  await page.route(url, async (route) => {
    if (route.request().method() === 'GET') return route.continue()
    if (++count === at) await kill()
    await route.continue()
  })
}

const unsent = (page: Page) =>
  page.getByRole('alert').filter({ hasText: "Not saved: Inlet can't be reached" })

describe('a restart of the service', () => {
  test('while all are accepted: says what was not, and Retry accepts the rest', async ({ app }) => {
    const { service } = app
    const { inbox } = await service.given.project()
    for (let batch = 0; batch < 3; batch++) {
      const tasks = Array.from({ length: 100 }, (_, number) => ({ title: `Task ${batch} ${number}` }))
      await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    }
    const triaged = async () => {
      const [row] = await service.query('select count(*)::int as n from tasks where triaged')
      return row.n
    }
    const { page, kill, start } = await openOnProcess(app)
    await page.getByText('300 left').waitFor()
    await killAt({ page, url: '**/api/tasks/bulk', at: 2, kill })
    await page.getByRole('button', { name: 'Accept all 300' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Accept 300' }).click()

    await page.getByText('100 tasks: Accepted.').waitFor(A_WHILE)
    await unsent(page).getByText('and 197 more').waitFor()
    expect(await triaged()).toBe(100)
    await rowOf(page, 'Task 1 0').first().waitFor()
    await start()
    await page.getByText('200 left').waitFor(A_WHILE)
    await unsent(page).getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Nothing left to triage').waitFor(A_WHILE)
    await unsent(page).waitFor({ state: 'detached' })
    await expect.poll(triaged, A_WHILE).toBe(300)
  })

  test('while a group is merged: says what was not, and Retry merges the rest', async ({ app }) => {
    const { service } = app
    const send = sender(service.url, WEBHOOK_SECRET)
    for (let number = 0; number < 14; number++) {
      const { status } = await send(
        feedback({ note: 'Notifications arrive twice', app_version: `2.${number}` }),
      )
      expect(status).toBe(201)
    }
    const { page, kill, start } = await openOnProcess(app)
    await rowOf(page, 'Notifications arrive twice').getByText('×14').waitFor()
    await killAt({ page, url: '**/merge', at: 8, kill })
    await page.keyboard.press('m')

    await unsent(page).waitFor(A_WHILE)
    const merged = () => service.query('select status, merged_into from tasks where merged_into is not null')
    const half = await merged()
    expect(half.length).toBeGreaterThan(0)
    expect(half.length).toBeLessThan(13)
    await page.getByText(/^Merged (“.*”|\d+ tasks) into “Notifications arrive twice”\.$/).waitFor()
    const [{ id }] = await service.query('select id from tasks where merged_into is null order by id limit 1')
    expect((await taskOf(app, id)).reports).toBe(half.length + 1)
    for (const report of half) expect(report).toEqual({ status: 'done', merged_into: id })
    await start()
    await page.getByText('Connection lost').waitFor({ state: 'detached', ...A_WHILE })
    await unsent(page).getByRole('button', { name: 'Retry' }).click()
    await expect.poll(async () => (await merged()).length, A_WHILE).toBe(13)
    await page.getByText('1 left').waitFor(A_WHILE)
    await rowOf(page, 'Notifications arrive twice').getByText('×14').waitFor()
  })
})
