import { describe, expect } from 'vitest'
import type { Response } from '../tools/playwright.ts'
import { type AppInBrowser, rowOf, test } from './support/browser.ts'
import { countReceived } from './support/received.ts'

/** Compressed, of what the page itself names. */
const MAX_SCRIPT_BYTES = 120_000

/** Of everything until nothing more is requested; dialogs and menus come when somebody uses the page. */
const MAX_REQUESTS = 25
const MAX_BYTES = 200_000

/** Feedback, most of it with reports that are merged into it. */
async function givenFeedback({ service }: AppInBrowser) {
  const { inbox } = await service.given.project()
  const feedback = (title: string, properties: object) =>
    service.given.task(inbox, { title, source: 'analytics', triaged: false, metadata: { properties } })
  for (let number = 1; number <= 60; number++) {
    const { id } = await feedback(`Feedback ${number}.`, { sentiment: 'frustrated', app_version: '2.0' })
    if (number % 3 === 0) continue
    const report = await feedback(`Report ${number}.`, { sentiment: 'meh', app_version: '3.0' })
    const { status } = await service.post(`/api/tasks/${report.id}/merge`, { into: id })
    expect(status).toBe(200)
  }
}

describe('the first load', () => {
  test('is small, compressed, cached as immutable, and requests nothing twice', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Seen at first' })
    const page = await app.open('/sign-in')
    // What happened while the page was loading is asked for once more; here nothing did.
    await app.service.query('DELETE FROM activity')
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    const html = await (await page.goto(`${app.service.url}/tasks`))?.text()
    await page.getByRole('link', { name: 'Seen at first' }).waitFor()

    const pathOf = (response: Response) => new URL(response.url()).pathname
    const assets = responses.filter((response) => /\.(js|css)$/.test(pathOf(response)))
    expect(assets.length).toBeGreaterThan(1)
    let scriptBytes = 0
    for (const asset of assets) {
      const headers = await asset.allHeaders()
      expect(headers['cache-control']).toContain('immutable')
      expect(['br', 'gzip']).toContain(headers['content-encoding'])
      const isNamed = pathOf(asset).endsWith('.js') && html?.includes(pathOf(asset))
      if (isNamed) scriptBytes += Number(headers['content-length'])
    }
    expect(scriptBytes).toBeGreaterThan(0)
    expect(scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES)
    for (const once of ['/api/me', '/api/tasks', '/api/projects']) {
      const read = () => responses.filter((response) => pathOf(response) === once)
      await expect.poll(() => read().length, { message: once }).toBeGreaterThan(0)
      const urls = read().map((response) => response.url())
      expect(urls, once).toEqual([...new Set(urls)])
    }
  })

  test('takes few requests and bytes in all until the page is used', async ({ app }) => {
    // More than the first page of the list has.
    const older = Array.from({ length: 60 }, (_, index) => ({ title: `Task ${index}` }))
    for (const task of older) await app.service.post('/api/tasks', task)
    await app.service.post('/api/tasks', { title: 'Seen at first' })
    await app.service.post('/api/saved-filters', { name: 'Mine', query: { status: ['done'] } })
    const page = await app.open('/sign-in')
    await app.service.query('DELETE FROM activity')
    await page.goto('about:blank')
    const received = await countReceived(page)
    await page.goto(`${app.service.url}/tasks`)
    await page.getByRole('link', { name: 'Seen at first' }).waitFor()
    await page.getByRole('button', { name: 'Download as CSV' }).waitFor()
    await page.getByRole('link', { name: 'Mine' }).waitFor()
    await expect.poll(received.isQuiet, { timeout: 30_000 }).toBe(true)

    expect(received.requests()).toBeGreaterThan(5)
    expect(received.requests()).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(received.bytes()).toBeGreaterThan(MAX_SCRIPT_BYTES / 2)
    expect(received.bytes()).toBeLessThanOrEqual(MAX_BYTES)

    await page.mouse.move(300, 300)
    await expect.poll(received.isQuiet, { timeout: 30_000 }).toBe(false)
  })

  test('of Triage takes as few', async ({ app }) => {
    for (let number = 0; number < 60; number++)
      await app.service.post('/api/tasks', { title: `Task ${number}` })
    const page = await app.open('/sign-in')
    await app.service.query('DELETE FROM activity')
    await page.goto('about:blank')
    const received = await countReceived(page)
    await page.goto(`${app.service.url}/triage`)
    await page.getByText('60 left').waitFor()
    await page.getByRole('button', { name: 'Accept all 60' }).waitFor()
    await expect.poll(received.isQuiet, { timeout: 30_000 }).toBe(true)

    expect(received.requests()).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(received.bytes()).toBeGreaterThan(MAX_SCRIPT_BYTES / 2)
    expect(received.bytes()).toBeLessThanOrEqual(MAX_BYTES)
  })

  for (const path of ['/tasks?status=open', '/triage'])
    test(`of ${path} takes as few with feedback that has reports`, async ({ app }) => {
      await givenFeedback(app)
      const page = await app.open('/sign-in')
      await app.service.query('DELETE FROM activity')
      await page.goto('about:blank')
      const received = await countReceived(page)
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`${app.service.url}${path}`)
      const row = rowOf(page, path === '/triage' ? 'Feedback 1.' : 'Feedback 59.')
      await row.getByText('×2').waitFor()
      const { height } = (await row.boundingBox()) ?? {}
      await row.getByRole('img', { name: '1 frustrated, 1 meh' }).waitFor()
      await row.getByTitle('1 with 2.0, 1 with 3.0').waitFor()
      expect((await row.boundingBox())?.height).toBe(height)
      await expect.poll(received.isQuiet, { timeout: 30_000 }).toBe(true)

      expect(received.requests()).toBeLessThanOrEqual(MAX_REQUESTS)
      expect(received.bytes()).toBeLessThanOrEqual(MAX_BYTES)
      // For all rows together; those that a slow browser renders later ask once more.
      const counted = asked.filter((one) => one.endsWith('/report-counts')).length
      expect([1, 2]).toContain(counted)
      // At most the highlighted row.
      expect(asked.filter((one) => one.endsWith('/similar')).length).toBeLessThanOrEqual(1)
    })

  test('allows no third-party scripts or styles', async ({ app }) => {
    const response = await fetch(`${app.service.url}/tasks`, { headers: { accept: 'text/html' } })
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`default-src 'none'`)
    expect(policy).toMatch(/script-src 'self' 'nonce-[^']+'(;|$)/)
    expect(policy).not.toContain('unsafe')
  })
})
