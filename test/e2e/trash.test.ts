import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, rowOf, smallTargets, test, violationsOn } from './support/browser.ts'

const trashOf = (page: Page) => page.getByRole('region', { name: 'Trash' })

async function deleteTasks({ service }: AppInBrowser, tasks: { id: string }[]) {
  for (const { id } of tasks) await service.delete(`/api/tasks/${id}`)
}

describe('the trash', () => {
  test('shows who deleted a task and when, and restores it', async ({ app }) => {
    const task = await createTask(app, { title: 'Deleted by mistake' })
    const page = await app.open('/tasks', { isLive: true })
    await deleteTasks(app, [task])
    await page.getByRole('link', { name: 'Trash' }).click()
    const row = trashOf(page).getByRole('listitem').filter({ hasText: 'Deleted by mistake' })
    const { name } = (await app.service.get('/api/me')).body
    await row.getByText(`Deleted by ${name} just now`).waitFor()
    await row.getByText('30 days left').waitFor()
    await row.getByRole('button', { name: 'Restore Deleted by mistake' }).click()
    await page.getByText('The trash is empty').waitFor()
    expect((await app.service.get(`/api/tasks/${task.id}`)).status).toBe(200)
    await page.getByRole('link', { name: /All tasks/ }).click()
    await rowOf(page, 'Deleted by mistake').waitFor()
  })

  test('works by keyboard and undoes a restore', async ({ app }) => {
    const tasks = []
    for (const title of ['First gone', 'Second gone', 'Last gone'])
      tasks.push(await createTask(app, { title }))
    await deleteTasks(app, tasks)
    const page = await app.open('/trash')
    const titles = () =>
      trashOf(page)
        .getByRole('button', { name: /^Restore / })
        .evaluateAll(labelsOf)
    await expect.poll(titles).toEqual(['Restore Last gone', 'Restore Second gone', 'Restore First gone'])
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await expect.poll(titles).toEqual(['Restore Last gone', 'Restore First gone'])
    // The focus is on the one that took its place.
    await page.locator('[aria-label="Restore First gone"]:focus').waitFor()
    await page.keyboard.press('z')
    await page.getByText('Undone: “Restored: Second gone”').waitFor()
    await expect.poll(titles).toContain('Restore Second gone')
  })

  test('is filtered by project and updates live', async ({ app }) => {
    const other = await app.service.given.project({ name: 'Elsewhere' })
    const [here, there] = [
      await createTask(app, { title: 'Gone here' }),
      await createTask(app, { title: 'Gone there', listId: other.inbox.id }),
    ]
    await deleteTasks(app, [here])
    const page = await app.open('/trash', { isLive: true })
    await trashOf(page).getByText('Gone here').waitFor()
    await deleteTasks(app, [there])
    await trashOf(page).getByText('Gone there').waitFor()
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Elsewhere' }).click()
    await page.waitForURL(new RegExp(`projectId=${other.id}`))
    await trashOf(page).getByText('Gone here').waitFor({ state: 'detached' })
    await trashOf(page).getByText('Gone there').waitFor()
  })

  test('loads more pages, and shows why a task cannot be restored', async ({ app }) => {
    const { body: lists } = await app.service.get(`/api/projects/${await inboxProject(app)}/lists`)
    const tasks = Array.from({ length: 60 }, (_, index) => ({
      title: `Gone ${index}`,
      externalId: `x${index}`,
    }))
    const { body: made } = await app.service.post('/api/tasks/bulk', { listId: lists.data[0].id, tasks })
    await deleteTasks(app, made.data)
    await createTask(app, { title: 'In its place', externalId: 'x59' })
    const page = await app.open('/trash')
    await page.getByRole('button', { name: 'Restore Gone 59' }).click()
    await page.getByRole('alert').filter({ hasText: "Couldn't restore the task" }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('button', { name: 'Restore Gone 0', exact: true }).waitFor()
  })

  test('passes axe and fits on a phone', async ({ app }) => {
    const task = await createTask(app, { title: 'A very long title that does not fit '.repeat(6) })
    await deleteTasks(app, [task])
    const viewport = { width: 390, height: 844 }
    const page = await app.open('/trash', { viewport, hasTouch: true, isMobile: true })
    await trashOf(page)
      .getByRole('button', { name: /^Restore/ })
      .waitFor()
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 44)).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBeLessThanOrEqual(0)
  })

  test('is read-only for a key without tasks:write', async ({ app }) => {
    const task = await createTask(app, { title: 'Read only' })
    await deleteTasks(app, [task])
    const { body: reader } = await app.service.post('/api/keys', { name: 'reader', scopes: ['tasks:read'] })
    const page = await app.open('/trash', { key: reader.key })
    await trashOf(page).getByText('Read only').waitFor()
    await expect.poll(() => trashOf(page).getByRole('button').count()).toBe(0)
  })
})

const labelsOf = (buttons: { getAttribute(name: string): string | null }[]) =>
  buttons.map((button) => button.getAttribute('aria-label'))

async function inboxProject({ service }: AppInBrowser): Promise<string> {
  return (await service.get('/api/projects')).body.data[0].id
}
