import { describe, expect } from 'vitest'
import { type AppInBrowser, test } from './support/browser.ts'
import { copyTask } from './support/many-tasks.ts'

const MANY = 5_000

/** A list of that many. */
async function fill(app: AppInBrowser): Promise<void> {
  const { inbox } = await app.service.given.project({ name: 'Crowded' })
  await app.service.given.task(inbox, { title: 'Task 0', createdAt: new Date('2026-01-01T00:00:00Z') })
  await copyTask(app, MANY)
}

describe('a list of 5,000 tasks', () => {
  test('scrolls to its end with a bounded number of rendered rows', async ({ app }) => {
    await fill(app)
    const page = await app.open('/tasks')
    await page.getByRole('link', { name: `Task ${MANY - 1}`, exact: true }).waitFor()
    const region = page.getByRole('region', { name: 'List of tasks' })
    let most = 0
    const last = page.getByRole('link', { name: 'Task 0', exact: true })
    await expect
      .poll(
        async () => {
          await region.evaluate((element) => element.scrollTo(0, element.scrollHeight))
          most = Math.max(most, await page.getByRole('listitem').count())
          return last.count()
        },
        { timeout: 90_000, interval: 50 },
      )
      .toBe(1)
    expect(most).toBeGreaterThan(10)
    expect(most).toBeLessThan(120)
  })
})
