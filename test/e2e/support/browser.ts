import { test as base, expect } from 'vitest'
import type { Task } from '../../../src/schemas/task.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import {
  AxeBuilder,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  launchBrowser,
  type Page,
} from '../../tools/playwright.ts'

/** A service, and pages of it in a browser. */
export interface AppInBrowser<Service extends TestApp = TestApp> {
  service: Service
  /** Opens a page, signed in with the admin key unless another key is given; null is signed out. */
  open(path: string, options?: OpenOptions): Promise<Page>
}

interface OpenOptions extends BrowserContextOptions {
  key?: string | null
  context?: BrowserContext
  /** Whether to wait until the page reads the stream. */
  isLive?: boolean
}

const withBrowser = base.extend(
  'browser',
  { scope: 'file' },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads here which other fixtures it needs.
  async ({}, { onCleanup }) => {
    const browser = await launchBrowser()
    onCleanup(() => browser.close())
    return browser
  },
)

/** A test with its own service and database. */
export const test = testWith(startApp)

/** Like `test`, with one service for all tests of a file. */
export const testTogether = withBrowser.extend('app', { scope: 'file' }, appOf(startApp))

/** Like `test`, with another service. */
export function testWith<Service extends TestApp>(start: () => Promise<Service>) {
  return withBrowser.extend('app', appOf(start))
}

interface Cleanup {
  onCleanup(cleanup: () => Promise<void>): void
}

function appOf<Service extends TestApp>(start: () => Promise<Service>) {
  return async (
    { browser }: { browser: Browser },
    { onCleanup }: Cleanup,
  ): Promise<AppInBrowser<Service>> => {
    const service = await start()
    onCleanup(async () => {
      for (const context of browser.contexts()) await context.close()
      await service.close()
    })
    return { service, open: opener(browser, service) }
  }
}

function opener(browser: Browser, { url, adminKey }: TestApp): AppInBrowser['open'] {
  return async (path, { key = adminKey, context: given, isLive = false, ...options } = {}) => {
    const context =
      given ?? (await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options }))
    if (key !== null && !given) await signIn(context, { url, key })
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const stream = isLive && page.waitForResponse((response) => response.url().includes('/api/stream'))
    await page.goto(url + path)
    await stream
    return page
  }
}

/** The list row with this title. */
export const rowOf = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })

/** The panel of the open task. */
export const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Task' })

/** Asserts that an element does not exist. Checked once, when toasts can be shown: they disappear by themselves. */
export async function expectNone(page: Page, what: Locator): Promise<void> {
  await page.locator('.mantine-Notifications-root').first().waitFor({ state: 'attached' })
  expect(await what.count()).toBe(0)
}

/** Delays requests of the page until the returned function is called. */
export async function delayRequests(
  page: Page,
  { url, method = 'GET' }: { url: string | RegExp; method?: string },
): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (route.request().method() === method) await released
    await route.continue()
  })
  return release
}

export const createTask = async ({ service }: AppInBrowser, body: object) =>
  (await service.post('/api/tasks', body)).body

/** A page that opens applies the changes of the last seconds once more, with requests of its own: now there are none. */
export const forgetActivity = ({ service }: AppInBrowser) => service.query('delete from activity')

/** The task as the service has it. */
export const taskOf = async ({ service }: AppInBrowser, id: string): Promise<Task> =>
  (await service.get(`/api/tasks/${id}`)).body

/** Signs in with a key on the sign-in page. */
export async function signInByKey(page: Page, key: string): Promise<void> {
  const other = page.getByText('Other ways to sign in')
  const field = page.getByLabel('API key')
  await other.waitFor()
  if (!(await field.isVisible())) await other.click()
  await field.fill(key)
  await page.getByRole('button', { name: 'Sign in with an API key' }).click()
}

/** Starts a session for all pages of a browser context. */
export async function signIn(
  context: BrowserContext,
  { url, key }: { url: string; key: string },
): Promise<void> {
  const response = await context.request.post(`${url}/api/sessions`, {
    data: { key },
    headers: { origin: url },
  })
  expect(response.status()).toBe(201)
}

interface Checked {
  /** Axe checks only this part of the page. */
  within?: string | undefined
  /** Axe checks only these rules. */
  rules?: string[]
}

/** Violations found by axe and, if it checks all rules, component classes without a style. */
export async function violationsOn(page: Page, { within, rules }: Checked = {}): Promise<string[]> {
  // Legacy mode does not open an extra page per run; it only skips cross-origin frames.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  if (within) axe.include(within)
  if (rules) axe.withRules(rules)
  const { violations } = await axe.analyze()
  const messages = violations
    .filter(({ id, nodes }) => id !== SCROLLABLE || !nodes.every(({ html }) => OPTIONS.test(html)))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
  const unstyled = rules ? [] : ((await page.evaluate(FIND_UNSTYLED)) as string[])
  return [...messages, ...unstyled.map((name) => `no style: ${name}`)]
}

/** Arrow keys in the input scroll a list of options, but the library's input refers to a former ID of the list. */
const SCROLLABLE = 'scrollable-region-focusable'
const OPTIONS = /mantine-ScrollArea-viewport/

/** Controls whose target is smaller than this many pixels. */
export async function smallTargets(page: Page, least: number, within = 'body'): Promise<string[]> {
  return (await page.evaluate(`(${FIND_SMALL_TARGETS})(${least}, '${within}')`)) as string[]
}

/** Hit-tests points around the center of each control. */
const FIND_SMALL_TARGETS = `(least, within) => {
  const pressed = 'button, input, textarea, select, summary, [role="button"], [role="option"], a'
  return [...document.querySelectorAll(':is(' + within + ') :is(' + pressed + ')')].flatMap((element) => {
    const style = getComputedStyle(element)
    const isText = style.display === 'inline' && element.tagName === 'A'
    element.scrollIntoView({ block: 'center', inline: 'center' })
    // What lies over its parent makes all of it the target.
    const isOverParent = getComputedStyle(element, '::after').position === 'absolute'
    const { left, top, width, height } = (isOverParent ? element.offsetParent : element).getBoundingClientRect()
    if (isText || width < 2 || element.disabled || !element.checkVisibility({ visibilityProperty: true })) return []
    const [x, y, reach] = [left + width / 2, top + height / 2, least / 2 - 1]
    const own = [element, ...(element.labels ?? []), element.closest('.mantine-InputWrapper-root')]
    const isMissed = ([x, y]) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && !own.some((one) => one?.contains(hit))
    }
    // Covered by another element.
    if (isMissed([x, y])) return []
    const misses = [[x, y - reach], [x, y + reach], [x - reach, y], [x + reach, y]].filter(isMissed)
    return misses.length > 0
      ? [element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).slice(0, 60)]
      : []
  })
}`

/** Mantine classes without a rule: src/dashboard/styles.ts imports its styles one by one. */
const FIND_UNSTYLED = `(() => {
  const rules = [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText).join(' ')).join(' ')
  const elements = [...document.querySelectorAll('[class*="m_"]')]
  const missing = elements.flatMap((element) =>
    [...element.classList].filter((name) => /^m_[0-9a-f]+$/.test(name) && !rules.includes('.' + name))
      .map((name) => name + ' ' + element.className))
  return [...new Set(missing)]
})()`

/** Collects errors of the page, including violations of the content security policy. */
export function collectErrors(page: Page): string[] {
  const pageErrors: string[] = []
  page.on('pageerror', (error) => pageErrors.push(error.message))
  page.on('console', (message) => {
    // Browsers log error responses too, which the page handles.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      pageErrors.push(message.text())
  })
  return pageErrors
}
