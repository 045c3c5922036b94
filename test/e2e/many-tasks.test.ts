import { describe, expect } from 'vitest'
import { type AppInBrowser, test } from './support/browser.ts'

const MANY = 5_000
/** A statement may take only so long. */
const AT_ONCE = 250

/** A list of that many. */
async function fill({ service }: AppInBrowser): Promise<void> {
  const { inbox } = await service.given.project({ name: 'Crowded' })
  await service.given.task(inbox, { title: 'Task 0', createdAt: new Date('2026-01-01T00:00:00Z') })
  // Copies of the one, each a second younger: through the API they would take a minute.
  for (let from = 1; from < MANY; from += AT_ONCE) {
    await service.query(
      `insert into tasks select (jsonb_populate_record(t, jsonb_build_object(
       'id', '01a00000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'),
       'title', 'Task ' || n,
       'created_at', t.created_at + n * interval '1 second'
     ))).* from tasks t, generate_series($1::integer, $2::integer) n where t.title = 'Task 0'`,
      [from, Math.min(from + AT_ONCE, MANY) - 1],
    )
  }
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
