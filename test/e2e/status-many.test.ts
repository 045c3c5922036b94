import { expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { workOnStatus } from '../support/status.ts'
import type { Page } from '../tools/playwright.ts'
import { smallTargets, testWith, violationsOn } from './support/browser.ts'
import { failing } from './support/failing.ts'

const test = testWith(() => startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))

const SOURCES = 1_000
/** What all pages of the status together may have. */
const MAX_BYTES = 60_000

test('of a thousand sources, those that fail are lines, and the others are counted', async ({ app }) => {
  const { service } = app
  const { id: projectId } = await service.given.project()
  const sources = await service.query(
    `insert into sources (id, name, project_id, scheme, secret, mapping, is_active, created_at, updated_at)
     select uuidv7(), 'Source ' || lpad(i::text, 4, '0'), $1, 'bearer', 'x', 'feedback', true, now(), now()
     from generate_series(1, ${SOURCES}) as i returning id`,
    [projectId],
  )
  const report = async (fail: (index: number) => boolean) => {
    for (const [index, { id }] of sources.entries()) {
      if (fail(index))
        service.service.pipes.failed({ kind: 'source', id }, { code: 'x', message: 'No title' })
      else service.service.pipes.succeeded({ kind: 'source', id })
    }
    await workOnStatus(service)
  }
  await report((index) => index % 250 === 0)

  const page = await app.open('/tasks')
  let bytes = statusBytesOf(page)
  await page.goto(`${service.url}/overview`)
  await page.getByRole('link', { name: 'Overview 4 failing' }).waitFor()
  await expect.poll(() => failing(page).count()).toBe(4)
  const others = page.getByRole('region', { name: 'Ways in and out' }).getByRole('listitem')
  await others.getByText('996 sources work').waitFor()
  expect(bytes()).toBeLessThan(MAX_BYTES)
  await failing(page)
    .first()
    .getByRole('img', { name: /^In 24 hours: 0 succeeded, 1 failed: (in this hour|1 hour ago) 1$/ })
    .waitFor()
  expect(await violationsOn(page)).toEqual([])
  expect(await smallTargets(page, 32)).toEqual([])
  await others.getByRole('link', { name: '996 sources' }).click()
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor()
  const first = page.getByRole('listitem').filter({ hasText: 'Source 0001' })
  await first.getByText('Failing').waitFor()
  await first.getByText('No title').waitFor()

  await report((index) => index < SOURCES - 1)
  await report(() => true)
  // New pages: responses to what others have requested may still come.
  const overview = await page.context().newPage()
  bytes = statusBytesOf(overview)
  await overview.goto(`${service.url}/overview`)
  await overview.getByRole('link', { name: 'Overview 1,000 failing' }).waitFor()
  await failing(overview).getByText('990 more sources fail').waitFor()
  await expect.poll(() => failing(overview).count()).toBe(11)
  // The one that began to fail last.
  await failing(overview).first().getByText('Source 1000').waitFor()
  expect(bytes()).toBeLessThan(MAX_BYTES)

  const settings = await page.context().newPage()
  bytes = statusBytesOf(settings)
  await settings.goto(`${service.url}/settings/sources`)
  await settings.getByText('1,000 sources fail. The 100 that began to fail last are marked.').waitFor()
  expect(bytes()).toBeLessThan(2 * MAX_BYTES)
})

/** How much of the status a page has read, from now on. */
function statusBytesOf(page: Page): () => number {
  let bytes = 0
  page.on('response', async (response) => {
    if (!response.url().includes('/api/status')) return
    // The page may leave before the body is read.
    bytes += (await response.body().catch(() => '')).length
  })
  return () => bytes
}
