import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { rowOf, test } from './support/browser.ts'
import { countReceived } from './support/received.ts'

const CREATED = 20_000
const AT_ONCE = 100
const IN_PARALLEL = 4
const MAX_BYTES = 200_000

/** What shows on each page that the burst has arrived. */
const PAGES: Record<string, (page: Page) => Promise<void>> = {
  '/tasks': async (page) => {
    await rowOf(page, 'After the burst').waitFor()
    const all = page.getByRole('link', { name: /^All tasks/ })
    await expect.poll(() => all.textContent(), { timeout: 60_000 }).toMatch(/20,?002|20k/)
  },
  '/triage': (page) => page.getByText('10,000+ left').waitFor({ timeout: 60_000 }),
}

describe('a burst of 20,000 creates elsewhere', () => {
  test.for(Object.entries(PAGES))(
    'costs an open %s less than 200 KB, and is shown',
    async ([path, isShown], { app }) => {
      const key = await app.service.given.key({ name: 'importer', scopes: ['tasks:write', 'tasks:read'] })
      const { listId } = (await app.service.post('/api/tasks', { title: 'Before the burst' })).body
      const page = await app.open(path, { isLive: true })
      await rowOf(page, 'Before the burst').waitFor()
      // What comes with the first use does not count.
      await page.mouse.move(600, 500)
      await expect.poll(() => page.locator('.mantine-Notifications-root').count()).toBeGreaterThan(0)
      const received = await countReceived(page)
      await expect.poll(received.isQuiet, { timeout: 30_000 }).toBe(true)
      const before = received.bytes()

      let next = 0
      const createSome = async () => {
        while (next < CREATED) {
          const from = next
          next += AT_ONCE
          const tasks = Array.from({ length: AT_ONCE }, (_, index) => ({
            title: `Burst ${from + index + 1}`,
          }))
          expect((await app.service.post('/api/tasks/bulk', { listId, tasks }, { key })).status).toBe(201)
        }
      }
      await Promise.all(Array.from({ length: IN_PARALLEL }, createSome))
      await app.service.post('/api/tasks', { title: 'After the burst' })

      await isShown(page)
      await expect.poll(received.isQuiet, { timeout: 60_000 }).toBe(true)
      expect(received.bytes() - before).toBeGreaterThan(0)
      expect(received.bytes() - before).toBeLessThan(MAX_BYTES)
    },
  )
})
