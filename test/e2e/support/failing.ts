import type { Page } from '../../tools/playwright.ts'
import { expectNone } from './browser.ts'

/** Within the time in which a fault has to be seen. */
export const SOON = { timeout: 5_000 }

/** The mark in the sidebar that one way in or out fails. */
export const markOf = (page: Page) => page.getByRole('link', { name: 'Overview 1 failing' })

/** The lines of what fails. */
export const failing = (page: Page) => page.getByRole('region', { name: 'Failing' }).getByRole('listitem')

/** The mark goes as it came: by itself. */
export async function expectGone(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Overview', exact: true }).waitFor({ timeout: 10_000 })
  await expectNone(page, markOf(page))
}
