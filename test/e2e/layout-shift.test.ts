import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { delayRequests, testWith } from './support/browser.ts'
import { startFilled } from './support/filled-service.ts'
import { signInByPassword } from './support/people.ts'

const test = testWith(startFilled)

/** Adds up how much of the page moved, and how far, without somebody's doing: what browsers call CLS. */
const ADD_SHIFTS = `
  window.moved = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.moved += value
  }).observe({ type: 'layout-shift', buffered: true })`

const moved = (page: Page) => page.evaluate('window.moved') as Promise<number>

describe('a page that loads moves little of what it shows', () => {
  test.for([
    ['/api/overview', '/api/status'],
    ['/api/status', '/api/overview'],
  ])('with what fails on the overview: %s before %s', async ([early = '', late = ''], { app }) => {
    const page = await app.open('/sign-in', { key: null, viewport: { width: 1280, height: 800 } })
    await signInByPassword(page, 'mira')
    await page.getByRole('heading', { level: 1, name: 'Triage' }).waitFor()
    await page.addInitScript(ADD_SHIFTS)
    const release = await delayRequests(page, { url: `**${late}*` })
    const first = page.waitForResponse(`**${early}*`)
    await page.goto(`${app.service.url}/overview`)
    await first
    release()
    await page.getByRole('heading', { name: 'Failing' }).waitFor()
    await page.getByRole('figure', { name: 'Opened and closed' }).getByRole('img').waitFor()
    expect(await moved(page)).toBeLessThan(0.1)
  })
})
