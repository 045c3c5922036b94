import type { Page } from '../../tools/playwright.ts'
import { smallTargets, violationsOn } from './browser.ts'

/** What is wrong with what is shown, in both themes. */
export async function faultsOf(page: Page, { target, within }: Looks): Promise<string[]> {
  await settled(page)
  return [
    ...(await violationsInBothThemes(page, within)),
    ...((await page.evaluate(FIND_OVERFLOW)) as string[]),
    ...(await smallTargets(page, target, within)),
  ]
}

interface Looks {
  /** How many pixels the target of a control needs. */
  target: number
  /** The part of the page that is checked. */
  within?: string | undefined
}

/** The rules whose result depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Violations in the light theme, and those of colours in the dark one: nothing else is different there. */
export async function violationsInBothThemes(page: Page, within?: string): Promise<string[]> {
  await switchTo(page, 'light')
  const light = await violationsOn(page, { within })
  await switchTo(page, 'dark')
  const dark = await violationsOn(page, { within, rules: COLOUR_RULES })
  return [...light, ...dark.map((words) => `dark: ${words}`)]
}

async function switchTo(page: Page, colorScheme: 'light' | 'dark') {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
}

/** Waits until nothing is loading; `networkidle` never happens because of the stream. */
export async function settled(page: Page) {
  const loading = page.locator('.mantine-Skeleton-root, [aria-label$="loading"], #first-paint')
  await loading.first().waitFor({ state: 'detached' })
}

/** The page, what scrolls in it, the open task and dialogs never scroll sideways. */
const FIND_OVERFLOW = `[
  document.documentElement,
  ...document.querySelectorAll(':has(> h1), :has(> * > h1), :has(> * > * > h1), :has(> * > * > * > h1)'),
  ...document.querySelectorAll('[data-panel], [role="dialog"]'),
]
  .filter((element) => element.scrollWidth > element.clientWidth)
  .map((element) => 'overflow of ' + (element.getAttribute('aria-label') ?? element.tagName) + ' by ' +
    (element.scrollWidth - element.clientWidth))`

/** Whether all of an element is in the window; for `evaluate`. */
export const isInView = (element: { getBoundingClientRect(): { top: number; bottom: number } }) => {
  const { top, bottom } = element.getBoundingClientRect()
  const { innerHeight } = globalThis as unknown as { innerHeight: number }
  return top >= 0 && bottom <= innerHeight
}
