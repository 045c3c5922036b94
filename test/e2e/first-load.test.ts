import { describe, expect } from 'vitest'
import type { Response } from '../tools/playwright.ts'
import { test } from './support/browser.ts'

/** Compressed, of what the page itself names; the rest comes when it is quiet. */
const MAX_SCRIPT_BYTES = 120_000

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
      await expect
        .poll(() => responses.filter((response) => pathOf(response) === once).length, { message: once })
        .toBe(1)
    }
  })

  test('allows no third-party scripts or styles', async ({ app }) => {
    const response = await fetch(`${app.service.url}/tasks`, { headers: { accept: 'text/html' } })
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`default-src 'none'`)
    expect(policy).toMatch(/script-src 'self' 'nonce-[^']+'(;|$)/)
    expect(policy).not.toContain('unsafe')
  })
})
