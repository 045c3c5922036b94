/** The driver of the browser, and axe; fetched on first use. */
import { fetchTools } from './fetch.ts'

export type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
  Response,
} from 'playwright-core'

fetchTools()
export const { chromium } = await import('playwright-core')
export const { AxeBuilder } = await import('@axe-core/playwright')
