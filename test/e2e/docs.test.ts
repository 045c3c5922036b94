import { expect } from 'vitest'
import { AxeBuilder, type Page } from '../tools/playwright.ts'
import { collectErrors, test } from './support/browser.ts'

test.for(['light', 'dark'] as const)(
  'the API reference has no critical or serious violation for axe in %s, and loads everything from here',
  async (colorScheme, { app }) => {
    const page = await app.open('/healthz', { colorScheme, key: null })
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    const pageErrors = collectErrors(page)
    await page.goto(`${app.service.url}/docs`)
    await page.getByRole('heading', { name: 'Create a task' }).waitFor()

    expect(await violationsOn(page)).toEqual([])
    const { origin } = new URL(app.service.url)
    expect(requested.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'))).toEqual([])
    expect(pageErrors).toEqual([])
  },
)

async function violationsOn(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations
    .filter(({ impact }) => impact === 'critical' || impact === 'serious')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
