import { describe, expect } from 'vitest'
import { rowOf, taskOf, test } from './support/browser.ts'

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
