import { describe, expect } from 'vitest'
import { createTask, panelOf, smallTargets, test } from './support/browser.ts'
import { faultsOf, settled, violationsInBothThemes } from './support/looks.ts'

describe('axe finds nothing', () => {
  test('on a new service, on a phone', async ({ app }) => {
    const viewport = { width: 390, height: 844 }
    const touch = { hasTouch: true, isMobile: true }
    const page = await app.open('/triage', { reducedMotion: 'reduce', viewport, ...touch })
    const empty = ['keys', 'people', 'sources', 'outgoing', 'sign-in', 'routing', 'webhook']
    const settings = [...empty, 'instructions'].map((name) => `/settings/${name}`)
    for (const path of ['/triage', '/tasks', '/trash', '/incoming', ...settings]) {
      await page.goto(app.service.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      expect([path, await faultsOf(page, { target: 44 })]).toEqual([path, []])
    }
  })

  test('when the first owner is asked for, and when the session has ended', async ({ app }) => {
    const page = await app.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Create your account' }).first().click()
    await page.getByRole('dialog', { name: 'Create your account' }).waitFor()
    expect(await faultsOf(page, { target: 32 })).toEqual([])
    await page.keyboard.press('Escape')
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    expect(await smallTargets(page, 32)).toEqual([])
  })

  test('while offline', async ({ app }) => {
    const page = await app.open('/tasks', { isLive: true })
    await settled(page)
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
  })

  test('with a menu that is used by keyboard, a toast, and a tooltip', async ({ app }) => {
    const task = await createTask(app, { title: 'Crash when saving a draft', labels: ['crash'] })
    const page = await app.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Priority', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'High' }).waitFor()
    // The first item has the focus, as whoever opens a menu by keyboard expects.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/priority=/)
    await page.keyboard.press('Escape')
    await page.goto(`${app.service.url}/tasks`)
    await page.getByRole('listitem').first().hover()
    await page.getByLabel('Select Crash when saving a draft').check()
    await page.getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('combobox', { name: 'Label to add' }).fill('seen')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.goto(`${app.service.url}/tasks/${task.id}`)
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'In progress' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: 'Copy link' }).hover()
    await page.locator('[data-tooltip-shown]', { hasText: 'Copy link' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
  })

  test('with an edit conflict', async ({ app }) => {
    const task = await createTask(app, { title: 'Written twice' })
    const page = await app.open(`/tasks/${task.id}`, { reducedMotion: 'reduce' })
    await panelOf(page).getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await app.service.patch(`/api/tasks/${task.id}`, { notes: 'theirs' })
    await page.getByRole('button', { name: 'Save notes' }).click()
    await page.getByRole('button', { name: 'Keep mine' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
  })
})
