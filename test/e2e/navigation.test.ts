import { describe, expect } from 'vitest'
import { delayRequests, rowOf, signInByKey, test } from './support/browser.ts'

const KEYS_PAGE = /assets\/keys-page.*js/

describe('navigation', () => {
  test.for([
    ['/', '/triage'],
    ['/settings', '/settings/instructions'],
    ['/tasks/', '/tasks/'],
  ] as const)('from %s leads to %s', async ([from, to], { app }) => {
    const page = await app.open(from)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await expect.poll(() => page.url()).toBe(app.service.url + to)
    await expect.poll(() => page.getByRole('heading', { name: 'Page not found' }).count()).toBe(0)
  })

  test('returns to the address with its filters after sign-in', async ({ app }) => {
    const page = await app.open('/tasks?priority=["high"]&q=100%2541', { key: null })
    await signInByKey(page, app.service.adminKey)
    await page.getByRole('button', { name: 'Priority: High' }).waitFor()
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('100%41')
  })

  test('keeps the page until the next one is loaded', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Shown meanwhile' })
    const page = await app.open('/settings/sessions')
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    const release = await delayRequests(page, { url: KEYS_PAGE })
    const requested = page.waitForRequest(KEYS_PAGE)
    await page.getByRole('link', { name: 'API keys' }).click()
    await requested
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/keys`)
    await expect.poll(() => page.getByRole('heading', { name: 'Sessions', level: 1 }).isVisible()).toBe(true)
    // The latest address is the one that is shown.
    await page.getByRole('link', { name: 'All tasks' }).click()
    await rowOf(page, 'Shown meanwhile').waitFor()
    await page.goBack()
    release()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  })

  test('preloads the page of a link under the pointer or the focus', async ({ app }) => {
    const page = await app.open('/settings/sessions')
    const link = page.getByRole('link', { name: 'API keys' })
    const requested = page.waitForRequest(KEYS_PAGE)
    await link.hover()
    await requested
    const deliveries = page.waitForRequest(/assets\/incoming-page.*js/)
    await page.getByRole('link', { name: 'Incoming deliveries' }).focus()
    await deliveries
    await expect.poll(() => page.url()).toBe(`${app.service.url}/settings/sessions`)
  })

  test('marks links to the current page, whose address is added to the history once', async ({ app }) => {
    const page = await app.open('/settings/keys')
    const link = page.getByRole('link', { name: 'API keys' })
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
    const sidebar = page.getByRole('navigation', { name: 'Settings and account' })
    await expect
      .poll(() => sidebar.getByRole('link', { name: 'Settings' }).getAttribute('aria-current'))
      .toBeNull()
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Sessions' }).click()
    await expect.poll(() => link.getAttribute('aria-current')).toBeNull()
    await page.goBack()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })
})
