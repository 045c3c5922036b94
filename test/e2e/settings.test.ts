import { describe, expect } from 'vitest'
import { test } from './support/browser.ts'

describe('API keys', () => {
  test('are created, shown once, rotated and revoked', async ({ app }) => {
    const page = await app.open('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('ci')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'API key “ci”' })
    const secret = await dialog.locator('pre').first().innerText()
    expect(secret).toMatch(/^inl_/)
    expect((await app.service.get('/api/me', { key: secret })).body.name).toBe('ci')
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await expect.poll(() => dialog.isVisible()).toBe(true)
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body: creator } = await app.service.get('/api/me')
    await page
      .getByRole('listitem')
      .filter({ hasText: `created by ${creator.name}` })
      .waitFor()
    await page.getByRole('button', { name: 'Actions for ci' }).click()
    await page.getByRole('menuitem', { name: /^Rotate/ }).click()
    const newer = await dialog.locator('pre').first().innerText()
    expect(newer).not.toBe(secret)
    for (const key of [secret, newer]) expect((await app.service.get('/api/me', { key })).status).toBe(200)
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Actions for ci' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('listitem').filter({ hasText: 'ci' }).waitFor({ state: 'detached' })
    const statusOf = async (key: string) => (await app.service.get('/api/me', { key })).status
    for (const key of [secret, newer]) await expect.poll(() => statusOf(key)).toBe(401)
  })

  test('have the selected scopes, and can be copied without the Clipboard API', async ({ app }) => {
    const page = await app.open('/settings/keys')
    // As over plain http from another machine.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('reader')
    const selected = page.getByRole('dialog').getByRole('checkbox', { checked: true })
    while ((await selected.count()) > 0) await selected.first().uncheck()
    await page.getByRole('dialog').getByRole('checkbox', { name: 'tasks:read' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'API key “reader”' })
    const secret = await dialog.locator('pre').first().innerText()
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    await dialog.getByRole('button', { name: "I've stored it" }).click()
    expect((await app.service.get('/api/me', { key: secret })).body.scopes).toEqual(['tasks:read'])
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').focus()
    await page.keyboard.press('Control+V')
    await expect.poll(() => page.getByRole('dialog').getByLabel('Name').inputValue()).toBe(secret)
  })
})

describe('project settings', () => {
  test('keep a name that is being typed when someone else renames the project', async ({ app }) => {
    const { body: project } = await app.service.post('/api/projects', { name: 'Named' })
    const page = await app.open(`/projects/${project.id}`, { isLive: true })
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Half a na')
    await app.service.patch(`/api/projects/${project.id}`, { name: 'By another' })
    await page.getByRole('heading', { name: 'By another', level: 1 }).waitFor()
    await expect.poll(() => name.inputValue()).toBe('Half a na')
    await name.fill('By another')
    await app.service.patch(`/api/projects/${project.id}`, { name: 'Once more' })
    await expect.poll(() => name.inputValue()).toBe('Once more')
  })

  test('turn triage off and on', async ({ app }) => {
    const { id, inbox } = await app.service.given.project()
    const arrive = async () => (await app.service.post('/api/tasks', { title: 'x', listId: inbox.id })).body
    const page = await app.open(`/projects/${id}`)
    const triage = page.getByRole('radiogroup', { name: 'Triage' })
    await page.getByText('What arrives waits in Triage until somebody decides.').waitFor()
    const choices = await page.getByRole('radiogroup').locator('label').all()
    const cut = await Promise.all(
      choices.map((choice) => choice.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)),
    )
    expect(cut).toEqual(Array(5).fill(false))
    await triage.getByRole('radio', { name: 'On' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText('Everything that arrives is accepted.').waitFor()
    expect((await arrive()).triaged).toBe(true)
    await triage.getByText('On', { exact: true }).click()
    await page.getByText('What arrives waits in Triage').waitFor()
    expect((await arrive()).triaged).toBe(false)
  })

  test('rename, add lists, and archive', async ({ app }) => {
    const { body: project } = await app.service.post('/api/projects', { name: 'Before' })
    const page = await app.open(`/projects/${project.id}`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('After')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'After', level: 1 }).waitFor()
    await page.getByLabel('New list name').fill('Later')
    await page.getByRole('button', { name: 'Add list' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Later' }).waitFor()
    await page.getByRole('button', { name: 'Archive project' }).click()
    await page.getByText('This project is archived').waitFor()
  })
})
describe('the sessions', () => {
  test('can be ended from another browser', async ({ app }) => {
    const key = await app.service.given.key({ name: 'two browsers' })
    const [here, there] = [
      await app.open('/settings/sessions', { key }),
      await app.open('/tasks', { key, userAgent: 'Mozilla/5.0 (iPhone) Safari/605.1' }),
    ]
    await here.reload()
    const other = here.getByRole('listitem').filter({ hasText: 'Safari on iPhone' })
    await here.getByRole('listitem').filter({ hasText: 'This browser' }).waitFor()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.waitFor({ state: 'detached' })
    await there.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await here.reload()
    await here.getByRole('listitem').filter({ hasText: 'This browser' }).waitFor()
  })
})
