import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, expectNone, panelOf, taskOf, test } from './support/browser.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const searchOf = (page: Page) => new URL(page.url()).search
const notesOf = (page: Page) => page.getByRole('textbox', { name: 'Notes' })

async function taskWithNotes(app: AppInBrowser) {
  const task = await createTask(app, { title: 'Written about' })
  await app.service.patch(`/api/tasks/${task.id}`, { notes: 'Before' })
  return task
}

async function openNotes(app: AppInBrowser, options = {}) {
  const task = await taskWithNotes(app)
  const page = await app.open('/tasks?priority=["medium"]', options)
  await page.getByRole('link', { name: 'Written about' }).click()
  await panelOf(page).getByRole('button', { name: 'Edit notes' }).click()
  await notesOf(page).waitFor()
  return { page, task }
}

describe('the editor of a text', () => {
  for (const [name, options] of [
    ['a phone', PHONE],
    ['a desktop', {}],
  ] as const) {
    test(`is left by Back with a draft, and opened again by its link, on ${name}`, async ({ app }) => {
      const { page, task } = await openNotes(app, options)
      expect(searchOf(page)).toMatch(/priority=.*&edit=notes/)
      await notesOf(page).fill('Half a thou')
      await page.goBack()
      await notesOf(page).waitFor({ state: 'detached' })
      await panelOf(page).getByText('Before').waitFor()
      await panelOf(page).getByRole('button', { name: 'Edit draft of notes' }).waitFor()
      await page.goBack()
      await panelOf(page).waitFor({ state: 'detached' })
      await page.goto(`${app.service.url}/tasks/${task.id}?edit=notes`)
      await expect.poll(() => notesOf(page).inputValue()).toBe('Half a thou')
      await page.reload()
      await expect.poll(() => notesOf(page).inputValue()).toBe('Half a thou')
      await notesOf(page).fill('A thought')
      await notesOf(page).press('Control+Enter')
      await notesOf(page).waitFor({ state: 'detached' })
      await panelOf(page).getByText('A thought').waitFor()
      expect((await taskOf(app, task.id)).notes).toBe('A thought')
      await expect.poll(() => searchOf(page)).toBe('')
      await panelOf(page).getByRole('button', { name: 'Edit notes' }).waitFor()
    })
  }

  test('shows what others changed until something is typed, and again when that is discarded', async ({
    app,
  }) => {
    const { page, task } = await openNotes(app, { isLive: true })
    await app.service.patch(`/api/tasks/${task.id}`, { notes: 'Theirs' })
    await expect.poll(() => notesOf(page).inputValue()).toBe('Theirs')
    await notesOf(page).fill('Mine')
    await panelOf(page).getByRole('button', { name: 'Discard' }).click()
    await panelOf(page).getByText('Theirs').waitFor()
    await panelOf(page).getByRole('button', { name: 'Edit notes' }).click()
    await panelOf(page).getByRole('button', { name: 'Cancel' }).click()
    await notesOf(page).waitFor({ state: 'detached' })
    expect((await taskOf(app, task.id)).notes).toBe('Theirs')
  })

  test('stays open while the list is filtered, and is left with its task', async ({ app }) => {
    const { page } = await openNotes(app)
    await page.getByRole('searchbox', { name: 'Search tasks' }).fill('written')
    await page.waitForURL(/q=written/)
    await notesOf(page).waitFor()
    await panelOf(page).getByRole('button', { name: 'Close task' }).click()
    await panelOf(page).waitFor({ state: 'detached' })
    expect(searchOf(page)).toMatch(/q=written/)
    expect(searchOf(page)).not.toMatch(/edit/)
  })

  test('is not opened by a link for who may only read', async ({ app }) => {
    const task = await taskWithNotes(app)
    const key = await app.service.given.key({ name: 'Reader', scopes: ['tasks:read'] })
    const page = await app.open(`/tasks/${task.id}?edit=notes`, { key })
    await panelOf(page).getByText('Before').waitFor()
    await expectNone(page, notesOf(page))
  })
})

describe('the editor of a title', () => {
  const titleOf = (page: Page) => page.getByRole('textbox', { name: 'Title' })

  test('is left by Back with a draft, and opened again by its link', async ({ app }) => {
    const task = await createTask(app, { title: 'Before' })
    const page = await app.open(`/tasks/${task.id}`)
    await panelOf(page).getByRole('button', { name: 'Before' }).click()
    expect(searchOf(page)).toBe('?edit=title')
    await titleOf(page).fill('Half a thou')
    await page.goBack()
    await titleOf(page).waitFor({ state: 'detached' })
    await panelOf(page).getByRole('button', { name: 'Edit draft of title' }).click()
    await expect.poll(() => titleOf(page).inputValue()).toBe('Half a thou')
    await page.reload()
    await expect.poll(() => titleOf(page).inputValue()).toBe('Half a thou')
    expect((await taskOf(app, task.id)).title).toBe('Before')
    await titleOf(page).fill('A thought')
    await page.keyboard.press('Enter')
    await panelOf(page).getByRole('button', { name: 'A thought' }).waitFor()
    expect((await taskOf(app, task.id)).title).toBe('A thought')
    await expect.poll(() => searchOf(page)).toBe('')
    await expectNone(page, panelOf(page).getByRole('button', { name: /^Edit draft/ }))
  })

  test('gives up what was typed with Escape, and saves it when something else is clicked', async ({
    app,
  }) => {
    const task = await createTask(app, { title: 'Before' })
    const other = await createTask(app, { title: 'Another' })
    const page = await app.open(`/tasks/${task.id}?edit=title`)
    await expect.poll(() => titleOf(page).inputValue()).toBe('Before')
    await titleOf(page).fill('Dropped')
    await page.keyboard.press('Escape')
    await panelOf(page).getByRole('button', { name: 'Before' }).click()
    await expect.poll(() => titleOf(page).inputValue()).toBe('Before')
    await titleOf(page).fill('Kept')
    await page.getByRole('link', { name: 'Another' }).click()
    await panelOf(page).getByRole('button', { name: 'Another' }).waitFor()
    await expect.poll(async () => (await taskOf(app, task.id)).title).toBe('Kept')
    await expect.poll(() => page.url()).toBe(`${app.service.url}/tasks/${other.id}`)
    await expectNone(page, titleOf(page))
  })

  test('is not opened by a link for who may only read', async ({ app }) => {
    const task = await createTask(app, { title: 'Before' })
    const key = await app.service.given.key({ name: 'Reader', scopes: ['tasks:read'] })
    const page = await app.open(`/tasks/${task.id}?edit=title`, { key })
    await panelOf(page).getByRole('heading', { name: 'Before' }).waitFor()
    await expectNone(page, titleOf(page))
  })
})

test('a comment is edited at an address, which Back leaves with what was typed', async ({ app }) => {
  const task = await createTask(app, { title: 'Discussed' })
  const path = `/api/tasks/${task.id}/comments`
  const { body: comment } = await app.service.post(path, { body: 'A first thought' })
  const page = await app.open(`/tasks/${task.id}?edit=${comment.id}`)
  const editor = page.getByRole('textbox', { name: 'Edit comment' })
  await expect.poll(() => editor.inputValue()).toBe('A first thought')
  await panelOf(page).getByRole('button', { name: 'Cancel' }).click()
  await editor.waitFor({ state: 'detached' })
  await panelOf(page).getByRole('button', { name: 'Comment actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await editor.fill('A second thou')
  await page.goBack()
  await editor.waitFor({ state: 'detached' })
  await panelOf(page).getByText('draft of an edit').waitFor()
  await page.goForward()
  await expect.poll(() => editor.inputValue()).toBe('A second thou')
  await editor.fill('A second thought')
  await editor.press('Control+Enter')
  await editor.waitFor({ state: 'detached' })
  await panelOf(page).getByText('A second thought').waitFor()
  await expect.poll(() => searchOf(page)).toBe('')
  expect((await app.service.get(path)).body.data[0].body).toBe('A second thought')
})
