import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { expectNone, testWith } from './support/browser.ts'

const test = testWith(() => startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))

describe('the editor of a source', () => {
  test('has an address with its preset, and keeps its draft and payload, but no secret', async ({ app }) => {
    const page = await app.open('/settings/sources?source=new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Kept source')
    await page.getByRole('textbox', { name: 'Payload' }).fill('{"title": "Kept payload"}')
    await page.getByLabel('Secret').fill('whsec_not_to_be_stored')
    await page.getByRole('button', { name: 'Back to sources' }).click()
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Kept source')
    await page.getByRole('tree').getByText('Kept payload').waitFor()
    await page.getByRole('article', { name: 'Kept payload' }).waitFor()
    const stored = (await page.evaluate('JSON.stringify(sessionStorage)')) as string
    expect(stored).toContain('Kept source')
    expect(stored).not.toContain('not_to_be_stored')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.goto(`${app.service.url}/settings/sources?source=new&preset=alertmanager_alerts`)
    await page.getByRole('button', { name: 'Remove payload.alerts (A task for each)' }).waitFor()
    await page.goto(`${app.service.url}/settings/sources?source=${crypto.randomUUID()}`)
    await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor()
    await expectNone(page, page.getByRole('alert'))
  })
})
