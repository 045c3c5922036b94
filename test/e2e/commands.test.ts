import { readFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import type { Page } from '../tools/playwright.ts'
import { createTask, expectNone, rowOf, taskOf, testWith, violationsOn } from './support/browser.ts'
import { givenPerson, openAs } from './support/people.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Command palette' })

/** Types into the palette and chooses what it finds first. */
async function command(page: Page, text: string) {
  await page.keyboard.press('Control+k')
  await paletteOf(page).getByRole('combobox').waitFor()
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

const search = (page: Page) => decodeURIComponent(new URL(page.url()).search)

describe('the command palette', () => {
  test('sets a priority and a status by name, and copies a link', async ({ app }) => {
    const task = await createTask(app, { title: 'Named values' })
    const page = await app.open('/tasks', { permissions: ['clipboard-read', 'clipboard-write'] })
    await rowOf(page, 'Named values').waitFor()
    await page.keyboard.press('j')
    await command(page, 'priority high')
    await page.getByText('Priority high: Named values').waitFor()
    await command(page, 'status in progress')
    await page.getByText('In progress: Named values').waitFor()
    expect(await taskOf(app, task.id)).toMatchObject({ priority: 'high', status: 'in_progress' })
    await command(page, 'copy link')
    await page.getByText('Link copied').waitFor()
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(`${app.service.url}/tasks/${task.id}`)
  })

  test('filters, sorts and exports the list', async ({ app }) => {
    await createTask(app, { title: 'Low one', priority: 'low', labels: ['bug'] })
    await createTask(app, { title: 'High one', priority: 'high' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Low one').waitFor()
    await page.keyboard.press('f')
    const picker = page.getByRole('combobox', { name: 'Filter by' })
    await picker.waitFor()
    expect(await violationsOn(page)).toEqual([])
    // Two values of one property, without waiting for the list.
    for (const key of ['2', '1', '2']) await page.keyboard.press(key)
    await expect.poll(() => search(page)).toContain('priority=["high","medium"]')
    await expect.poll(() => page.getByLabel('Current value').count()).toBe(2)
    await page.keyboard.press('Backspace')
    await page.keyboard.type('label')
    await page.keyboard.press('Enter')
    await page.keyboard.type('bu')
    await page.keyboard.press('Enter')
    await expect.poll(() => search(page)).toContain('label=["bug"]')
    await page.keyboard.press('Escape')
    await paletteOf(page).waitFor({ state: 'detached' })
    await page.keyboard.press('f')
    await page.keyboard.type('clear')
    await page.keyboard.press('Enter')
    await expect.poll(() => search(page)).toBe('')
    await rowOf(page, 'Low one').waitFor()
    await command(page, 'sort by')
    await page.getByRole('combobox', { name: 'Sort by' }).waitFor()
    await page.keyboard.type('oldest')
    await page.keyboard.press('Enter')
    await expect.poll(() => search(page)).toBe('?sort=openedAt')
    const download = page.waitForEvent('download')
    await command(page, 'export')
    expect(await readFile(await (await download).path(), 'utf8')).toContain('Low one')
  })

  test('creates projects and lists', async ({ app }) => {
    const page = await app.open('/tasks')
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await command(page, 'new project')
    await page.getByRole('combobox', { name: 'New project' }).waitFor()
    await page.keyboard.type('Mobile')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/projects\//)
    await command(page, 'new list')
    await page.getByRole('combobox', { name: 'New list' }).waitFor()
    await page.keyboard.type('Later')
    await paletteOf(page).getByRole('option', { name: 'Create “Later” in Mobile' }).click()
    await page.getByRole('heading', { name: 'Mobile / Later' }).waitFor()
  })

  test('syncs a project that is connected', async ({ app }) => {
    const { given } = app.service
    const { id } = await given.project({ name: 'Mobile' })
    await given.connection(id)
    const page = await app.open('/tasks')
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await page.route(/\/sync$/, (route) => route.fulfill({ status: 409, json: { code: 'sync_in_progress' } }))
    const sent = page.waitForRequest(`**/api/codehost/${id}/sync`)
    await command(page, 'sync')
    await sent
    await page.getByText('A sync is already running').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('sync inbox')
    await expectNone(page, paletteOf(page).getByRole('option', { name: 'Sync Inbox now' }))
  })

  test('changes the theme and signs out', async ({ app }) => {
    const page = await app.open('/tasks')
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    const theme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme')
    await command(page, 'theme dark')
    await expect.poll(theme).toBe('dark')
    await command(page, 'theme light')
    await expect.poll(theme).toBe('light')
    await command(page, 'sign out')
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
  })

  test('goes to the tasks of a person, and offers a viewer only what it may do', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada Lovelace', role: 'member' })
    await givenPerson(app, { username: 'eve', name: 'Eve', role: 'viewer' })
    await createTask(app, { title: 'Hers', assignees: ['ada'] })
    await createTask(app, { title: 'Nobody’s' })
    const page = await openAs(app, 'eve', '/tasks')
    await rowOf(page, 'Nobody’s').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Control+k')
    await paletteOf(page).getByRole('option', { name: 'Sort by…' }).waitFor()
    await expectNone(page, paletteOf(page).getByRole('option', { name: /^(New|Set|Sync|Delete)/ }))
    await page.keyboard.type('lovelace')
    await page.keyboard.press('Enter')
    await rowOf(page, 'Nobody’s').waitFor({ state: 'detached' })
    await rowOf(page, 'Hers').waitFor()
  })
})

describe('the command palette on the triage page', () => {
  test('filters, exports, merges what is equal, assigns and accepts', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const send = sender(app.service.url, WEBHOOK_SECRET)
    const ids: string[] = []
    for (let number = 0; number < 3; number++)
      ids.push((await send(feedback({ note: 'Notifications arrive twice' }))).body.taskId)
    const mine = await createTask(app, { title: 'For me' })
    const last = await createTask(app, { title: 'Last' })
    const page = await openAs(app, 'ada', '/triage')
    await rowOf(page, 'Last').waitFor()
    await command(page, 'merge all')
    await page.getByText('Merged 2 tasks into').waitFor()
    await page.keyboard.press('y')
    await page.getByText('2 left').waitFor()
    await command(page, 'assign to me')
    await expect.poll(() => taskOf(app, mine.id)).toMatchObject({ assignees: ['ada'], triaged: true })
    const downloaded = page.waitForEvent('download')
    await command(page, 'export')
    await downloaded
    await command(page, 'filter by')
    await page.getByRole('combobox', { name: 'Filter by' }).waitFor()
    await page.keyboard.type('source')
    await page.keyboard.press('Enter')
    await page.keyboard.type('API')
    await page.keyboard.press('Enter')
    await expect.poll(() => search(page)).toContain('source=["api"]')
    await page.keyboard.press('Escape')
    await paletteOf(page).waitFor({ state: 'detached' })
    await command(page, 'accept all')
    await page.getByText('Nothing left here').waitFor()
    await expect.poll(() => taskOf(app, last.id)).toMatchObject({ triaged: true })
  })
})
