import { AxeBuilder } from '@axe-core/playwright'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { test as base, expect } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A service, and a browser in front of it. */
export interface Desk<Service extends TestApp = TestApp> {
  service: Service
  /** A page of a browser that is signed in, with the admin key unless another is given. */
  open(path: string, options?: OpenOptions): Promise<Page>
}

interface OpenOptions extends BrowserContextOptions {
  key?: string | null
  context?: BrowserContext
  /** Whether to wait until this page follows the stream itself. */
  isLive?: boolean
}

const withBrowser = base.extend(
  'browser',
  { scope: 'file' },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads here which other fixtures it needs.
  async ({}, { onCleanup }) => {
    const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
    const browser = await chromium.launch({ executablePath, args: FLAGS })
    onCleanup(() => browser.close())
    return browser
  },
)

/** A test with a desk of its own: what other tests left behind, or a first try of this one, is not there. */
export const test = deskTest(startApp)

/** The same, with a service that is started like this. */
export function deskTest<Service extends TestApp>(start: () => Promise<Service>) {
  return withBrowser.extend('desk', async ({ browser }, { onCleanup }): Promise<Desk<Service>> => {
    const service = await start()
    onCleanup(async () => {
      for (const context of browser.contexts()) await context.close()
      await service.close()
    })
    return { service, open: opener(browser, service) }
  })
}

function opener(browser: Browser, { url, adminKey }: TestApp): Desk['open'] {
  return async (path, { key = adminKey, context: given, isLive = false, ...options } = {}) => {
    const context =
      given ?? (await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options }))
    if (key !== null && !given) await signIn(context, url, key)
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const stream = isLive && page.waitForResponse((answer) => answer.url().endsWith('/api/stream'))
    await page.goto(url + path)
    await stream
    return page
  }
}

/** The row of a list that says this. */
export const rowOf = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })

/** The task that is open beside the list. */
export const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Task' })

/**
 * Nothing like that is on the page, and nothing like that was said at its edge. Asked once, when it can be said: what is
 * said goes by itself.
 */
export async function expectNone(page: Page, what: Locator): Promise<void> {
  await page.locator('.mantine-Notifications-root').first().waitFor({ state: 'attached' })
  expect(await what.count()).toBe(0)
}

/** Keeps back what the page asks for there, by this method; answers how to let it go. */
export async function hold(page: Page, url: string | RegExp, method = 'GET'): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (route.request().method() === method) await released
    await route.continue()
  })
  return release
}

/** A task that came over the API. */
export const createTask = async ({ service }: Desk, body: object) =>
  (await service.post('/api/tasks', body)).body

/** Gives all pages of a browser a session. */
export async function signIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/api/sessions`, {
    data: { key },
    headers: { origin: url },
  })
  expect(answer.status()).toBe(201)
}

/** Everything axe objects to on the page as it is, and what is there without its style. */
export async function objectionsTo(page: Page): Promise<string[]> {
  // There are no frames, for which it would open a page of its own each time.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  const objections = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
  const unstyled = (await page.evaluate(UNSTYLED)) as string[]
  return [...objections, ...unstyled.map((name) => `no style: ${name}`)]
}

/** What can be pressed and answers within fewer pixels than this around its middle. */
export async function smallTargetsOn(page: Page, least: number): Promise<string[]> {
  return (await page.evaluate(`(${SMALL})(${least})`)) as string[]
}

/** Asks the page itself what a press beside the middle of each button, field and link of its own would hit. */
const SMALL = `(least) => {
  const pressed = 'button, input, textarea, select, summary, [role="button"], [role="option"], a'
  return [...document.querySelectorAll(pressed)].flatMap((element) => {
    const style = getComputedStyle(element)
    const isText = style.display === 'inline' && element.tagName === 'A'
    element.scrollIntoView({ block: 'center', inline: 'center' })
    const { left, top, width, height } = element.getBoundingClientRect()
    if (isText || width < 2 || element.disabled || !element.checkVisibility({ visibilityProperty: true })) return []
    const [x, y, reach] = [left + width / 2, top + height / 2, least / 2 - 1]
    const own = [element, ...(element.labels ?? []), element.closest('.mantine-InputWrapper-root')]
    const isMissed = ([x, y]) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && !own.some((one) => one?.contains(hit))
    }
    // Something lies over it.
    if (isMissed([x, y])) return []
    const misses = [[x, y - reach], [x, y + reach], [x - reach, y], [x + reach, y]].filter(isMissed)
    return misses.length > 0
      ? [element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).slice(0, 60)]
      : []
  })
}`

/** Classes of the component library that no stylesheet knows: its styles are taken over one by one. */
const UNSTYLED = `(() => {
  const rules = [...document.styleSheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText).join(' ')).join(' ')
  const elements = [...document.querySelectorAll('[class*="m_"]')]
  const missing = elements.flatMap((element) =>
    [...element.classList].filter((name) => /^m_[0-9a-f]+$/.test(name) && !rules.includes('.' + name))
      .map((name) => name + ' ' + element.className))
  return [...new Set(missing)]
})()`

/** Gathers what the page complains of: errors, and what the content security policy refused. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // What the service refuses is logged by the browser too; the page itself says it in words.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  return complaints
}
