import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, panelOf, rowOf, taskOf, test } from './support/browser.ts'

describe('offline', () => {
  test('is said at once, while the stream is still open', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Shown' })
    const page = await app.open('/tasks', { isLive: true })
    await rowOf(page, 'Shown').waitFor()
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor({ timeout: 1_000 })
    await page.context().setOffline(false)
    await page.getByText('You are offline').waitFor({ state: 'detached' })
  })

  test('says that an edit was not saved, and sends it again', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', { title: 'Edited in the dark' })
    const page = await app.open('/tasks', { isLive: true })
    const row = rowOf(page, 'Edited in the dark')
    await row.waitFor()
    await page.mouse.move(600, 500)
    await expect.poll(() => page.locator('.mantine-Notifications-root').count()).toBeGreaterThan(0)
    await page.context().setOffline(true)
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    const toast = page.getByRole('alert').filter({ hasText: 'Not saved: you are offline' })
    await toast.getByText('Edited in the dark').waitFor()
    expect((await taskOf(app, task.id)).status).toBe('open')

    await page.context().setOffline(false)
    await toast.getByRole('button', { name: 'Retry' }).click()
    await toast.waitFor({ state: 'detached' })
    await expect.poll(async () => (await taskOf(app, task.id)).status).toBe('done')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await taskOf(app, task.id)).status).toBe('open')
  })
})

/** What is fetched once the page is used has to be there: the code for Retry, and what else the test needs. */
async function goOffline(page: Page, chunk: 'edits' | 'palette' = 'edits') {
  await page.mouse.move(600, 500)
  // Resolves when all that it imports has arrived, too.
  const isLoaded = () =>
    page.evaluate(`(async () => {
      const isChunk = ({ name }) => name.includes('/assets/${chunk}-') && name.endsWith('.js')
      const fetched = performance.getEntriesByType('resource').find(isChunk)
      if (fetched) await import(fetched.name)
      return fetched && [...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)
    })()`)
  await expect.poll(isLoaded, { timeout: 15_000 }).toBe(true)
  await page.locator('.mantine-Notifications-root').first().waitFor({ state: 'attached' })
  await page.context().setOffline(true)
  await page.getByText('You are offline').waitFor()
}

/** The browser tells the page a while later. */
async function goOnline(page: Page) {
  await page.context().setOffline(false)
  await page.getByText('You are offline').waitFor({ state: 'detached' })
}

const toastOf = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).filter({ hasText: 'Retry' })

/** Sends again what the toast is about. */
async function retry(page: Page, text: string | RegExp) {
  await toastOf(page, text).getByText('Kept until you retry or dismiss this').waitFor()
  await page.context().setOffline(false)
  await toastOf(page, text).getByRole('button', { name: 'Retry' }).click()
  await toastOf(page, text).waitFor({ state: 'detached' })
}

const bodiesOf = async (app: AppInBrowser, id: string) =>
  (await app.service.get(`/api/tasks/${id}/comments`)).body.data.map(({ body }: { body: string }) => body)

describe('offline in the panel', () => {
  test('a title, a label, and a priority are sent again', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Named in haste' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    await page.getByRole('button', { name: 'Named in haste', exact: true }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Named at leisure')
    await goOffline(page)
    await page.keyboard.press('Enter')
    await retry(page, /Title changed/)
    await page.getByRole('button', { name: 'Named at leisure', exact: true }).waitFor()

    await panelOf(page).getByPlaceholder('Add label').fill('late')
    await page.context().setOffline(true)
    await page.keyboard.press('Enter')
    await retry(page, /Labels changed/)
    await expect.poll(async () => (await taskOf(app, id)).labels).toEqual(['late'])

    const { version } = await taskOf(app, id)
    await page.evaluate('document.activeElement.blur()')
    await goOffline(page, 'palette')
    await page.keyboard.press('p')
    await page.getByRole('dialog').getByRole('combobox').fill('high')
    await page.keyboard.press('Enter')
    await retry(page, /Named at leisure/)
    await expect.poll(async () => (await taskOf(app, id)).priority).toBe('high')
    expect((await taskOf(app, id)).version).toBe(version + 1)
  })

  test('an edit that somebody else made meanwhile is asked about', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Said by two' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await goOffline(page)
    await page.getByRole('button', { name: 'Save notes' }).click()
    await toastOf(page, /Not saved: you are offline/).waitFor()
    await app.service.patch(`/api/tasks/${id}`, { notes: 'theirs' })
    await retry(page, /Notes changed/)
    await panelOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(async () => (await taskOf(app, id)).notes).toBe('mine')
    await page.getByRole('textbox', { name: 'Notes' }).waitFor({ state: 'detached' })
  })

  test('a comment is kept, and sent once', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Discussed' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    const box = page.getByRole('textbox', { name: 'Comment' })
    await box.fill('Heard by all')
    await goOffline(page)
    await box.press('Control+Enter')
    await toastOf(page, 'Comment on').waitFor()
    await expect.poll(() => box.inputValue()).toBe('Heard by all')
    await retry(page, 'Comment on')
    await expect.poll(() => bodiesOf(app, id)).toEqual(['Heard by all'])
    await expect.poll(() => box.inputValue()).toBe('')
  })
})

describe('offline in the settings', () => {
  test('a switch is sent again', async ({ app }) => {
    const { id } = (await app.service.post('/api/rules', { content: 'Answer kindly.' })).body
    const page = await app.open('/settings/instructions', { isLive: true })
    await page.getByRole('switch').first().waitFor()
    await goOffline(page)
    await page.getByRole('switch').first().press('Space')
    await retry(page, "Couldn't update the instruction")
    await expect.poll(async () => (await app.service.get(`/api/rules/${id}`)).body.isActive).toBe(false)
  })

  test('a list whose response was lost is added once, and its field is emptied', async ({ app }) => {
    const { id } = await app.service.given.project({ name: 'Planned' })
    const page = await app.open(`/projects/${id}`, { isLive: true })
    await page.getByRole('textbox', { name: 'New list name' }).fill('Later')
    await goOffline(page)
    await goOnline(page)
    let isLost = true
    await page.route(/\/lists$/, async (route) => {
      if (route.request().method() !== 'POST' || !isLost) return route.continue()
      isLost = false
      await route.fetch()
      return route.abort()
    })
    await page.keyboard.press('Enter')
    await retry(page, "Couldn't add the list: Inlet can't be reached")
    await expect.poll(() => page.getByRole('textbox', { name: 'New list name' }).inputValue()).toBe('')
    const { data } = (await app.service.get(`/api/projects/${id}/lists`)).body
    expect(data.filter(({ name }: { name: string }) => name === 'Later')).toHaveLength(1)
  })
})
