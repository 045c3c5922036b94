import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { expectNone, testTogether as test } from './support/browser.ts'
import { field, givenPerson, openAs } from './support/people.ts'

const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name })

/** All that the browser stores for the tab. */
const storedIn = (page: Page) => page.evaluate('JSON.stringify(sessionStorage)') as Promise<string>

describe('a draft', () => {
  test('of a routing rule survives Back, Escape and a reload, until it is discarded', async ({ app }) => {
    await app.service.post('/api/projects', { name: 'For drafts' })
    const page = await app.open('/settings/routing')
    const dialog = dialogOf(page, 'Add rule')
    const open = () => page.getByRole('button', { name: 'Add rule' }).click()
    await open()
    await dialog.getByRole('button', { name: 'Cancel' }).waitFor()
    await dialog.getByLabel('When app is').fill('com.example.draft')
    await dialog.getByRole('combobox', { name: 'put feedback in' }).click()
    await page.getByRole('option', { name: 'For drafts' }).click()
    await page.goBack()
    await dialog.waitFor({ state: 'detached' })
    await open()
    await expect.poll(() => dialog.getByLabel('When app is').inputValue()).toBe('com.example.draft')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.reload()
    await open()
    await expect.poll(() => dialog.getByLabel('When app is').inputValue()).toBe('com.example.draft')
    await expect
      .poll(() => dialog.getByRole('combobox', { name: 'put feedback in' }).inputValue())
      .toBe('For drafts')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await dialog.waitFor({ state: 'detached' })
    await open()
    await dialog.getByRole('button', { name: 'Cancel' }).waitFor()
    await expect.poll(() => dialog.getByLabel('When app is').inputValue()).toBe('')
  })

  test('of an instruction keeps all fields, and is gone when it is saved', async ({ app }) => {
    const { body: rule } = await app.service.post('/api/rules', { content: 'Write tests.' })
    const page = await app.open(`/settings/instructions?rule=${rule.id}`)
    const dialog = dialogOf(page, 'Edit instruction')
    await dialog.getByLabel('Priority').fill('7')
    await dialog.getByLabel('Only for files').fill('src/**')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Actions for “Write tests.”' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await expect.poll(() => dialog.getByLabel('Priority').inputValue()).toBe('7')
    await dialog.getByRole('button', { name: 'Save instruction' }).click()
    await dialog.waitFor({ state: 'detached' })
    const saved = async () => (await app.service.get(`/api/rules/${rule.id}`)).body
    await expect.poll(saved).toMatchObject({ content: 'Write tests.', priority: 7, paths: ['src/**'] })
    expect(await storedIn(page)).not.toContain(rule.id)
  })

  test('of a provider has no secret', async ({ app }) => {
    const page = await app.open('/settings/sign-in?provider=new')
    const dialog = dialogOf(page, 'Add a provider')
    await field(dialog, 'Name').fill('Keycloak of acme')
    await field(dialog, 'Client secret').fill('not-to-be-stored')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a provider' }).click()
    await expect.poll(() => field(dialog, 'Name').inputValue()).toBe('Keycloak of acme')
    await expect.poll(() => field(dialog, 'Client secret').inputValue()).toBe('')
    expect(await storedIn(page)).toContain('Keycloak of acme')
    expect(await storedIn(page)).not.toContain('not-to-be-stored')
  })

  test('of the own account survives Back, and is gone when it is saved', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'viewer' })
    const page = await openAs(app, 'ada', '/settings/sessions')
    await page.getByRole('link', { name: 'Account' }).click()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await field(page.locator('main'), 'Name').fill('Ada Byron')
    await page.goBack()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.goForward()
    await expect.poll(() => field(page.locator('main'), 'Name').inputValue()).toBe('Ada Byron')
    await save.click()
    await page.getByRole('button', { name: /^Ada Byron.*account menu/ }).waitFor()
    await expectNone(page, page.getByRole('button', { name: 'Discard' }))
    expect(await storedIn(page)).not.toContain('Ada Byron')
    await field(page.locator('main'), 'Name').fill('Countess')
    await page.getByRole('button', { name: 'Discard' }).click()
    await expect.poll(() => field(page.locator('main'), 'Name').inputValue()).toBe('Ada Byron')
    await expect.poll(() => save.isDisabled()).toBe(true)
  })

  test('keeps what others change meanwhile, and warns where it would overwrite it', async ({ app }) => {
    const { post, patch, get } = app.service
    const { body: project } = await post('/api/projects', { name: 'Changed by two' })
    const made = { name: 'Mine', appMatch: 'com.example.two', targetProjectId: project.id }
    const { body: rule } = await post('/api/webhook-routing', made)
    const page = await app.open(`/settings/routing?rule=${rule.id}`)
    const dialog = dialogOf(page, 'Edit rule')
    await field(dialog, 'Name').fill('My name')
    const warning = dialog.getByText('Someone else changed the same fields.')
    await patch(`/api/webhook-routing/${rule.id}`, { appMatch: 'com.example.theirs' })
    await page.reload()
    await expect.poll(() => field(dialog, 'When app is').inputValue()).toBe('com.example.theirs')
    await expect.poll(() => field(dialog, 'Name').inputValue()).toBe('My name')
    await expectNone(page, warning)
    await patch(`/api/webhook-routing/${rule.id}`, { name: 'Their name' })
    await page.reload()
    await warning.waitFor()
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await dialog.waitFor({ state: 'detached' })
    const saved = async () => (await get(`/api/webhook-routing/${rule.id}`)).body
    await expect.poll(saved).toMatchObject({ name: 'My name', appMatch: 'com.example.theirs' })
  })
})
