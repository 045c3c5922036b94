import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createTask, type Desk, rowOf, smallTargets, test, violationsOn } from './support/browser.ts'

const trashOf = (page: Page) => page.getByRole('region', { name: 'Trash' })

async function deleteTasks({ service }: Desk, tasks: { id: string }[]) {
  for (const { id } of tasks) await service.delete(`/api/tasks/${id}`)
}

describe('the trash', () => {
  test('shows who deleted a task and when, and restores it', async ({ desk }) => {
    const task = await createTask(desk, { title: 'Deleted by mistake' })
    const page = await desk.open('/tasks', { isLive: true })
    await deleteTasks(desk, [task])
    await page.getByRole('link', { name: 'Trash' }).click()
    const row = trashOf(page).getByRole('listitem').filter({ hasText: 'Deleted by mistake' })
    const { name } = (await desk.service.get('/api/me')).body
    await row.getByText(`Deleted by ${name} just now`).waitFor()
    await row.getByText('30 days left').waitFor()
    await row.getByRole('button', { name: 'Restore Deleted by mistake' }).click()
    await page.getByText('The trash is empty').waitFor()
    expect((await desk.service.get(`/api/tasks/${task.id}`)).status).toBe(200)
    await page.getByRole('link', { name: /All tasks/ }).click()
    await rowOf(page, 'Deleted by mistake').waitFor()
  })

  test('works by keyboard and undoes a restore', async ({ desk }) => {
    const tasks = []
    for (const title of ['First gone', 'Second gone', 'Last gone'])
      tasks.push(await createTask(desk, { title }))
    await deleteTasks(desk, tasks)
    const page = await desk.open('/trash')
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

  test('is filtered by project and updates live', async ({ desk }) => {
    const other = await desk.service.given.project({ name: 'Elsewhere' })
    const [here, there] = [
      await createTask(desk, { title: 'Gone here' }),
      await createTask(desk, { title: 'Gone there', listId: other.inbox.id }),
    ]
    await deleteTasks(desk, [here])
    const page = await desk.open('/trash', { isLive: true })
    await trashOf(page).getByText('Gone here').waitFor()
    await deleteTasks(desk, [there])
    await trashOf(page).getByText('Gone there').waitFor()
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Elsewhere' }).click()
    await page.waitForURL(new RegExp(`projectId=${other.id}`))
    await trashOf(page).getByText('Gone here').waitFor({ state: 'detached' })
    await trashOf(page).getByText('Gone there').waitFor()
  })

  test('loads more pages, and shows why a task cannot be restored', async ({ desk }) => {
    const { body: lists } = await desk.service.get(`/api/projects/${await inboxProject(desk)}/lists`)
    const tasks = Array.from({ length: 60 }, (_, index) => ({
      title: `Gone ${index}`,
      externalId: `x${index}`,
    }))
    const { body: made } = await desk.service.post('/api/tasks/bulk', { listId: lists.data[0].id, tasks })
    await deleteTasks(desk, made.data)
    await createTask(desk, { title: 'In its place', externalId: 'x59' })
    const page = await desk.open('/trash')
    await page.getByRole('button', { name: 'Restore Gone 59' }).click()
    await page.getByRole('alert').filter({ hasText: "Couldn't restore the task" }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('button', { name: 'Restore Gone 0', exact: true }).waitFor()
  })

  test('passes axe and fits on a phone', async ({ desk }) => {
    const task = await createTask(desk, { title: 'A very long title that does not fit '.repeat(6) })
    await deleteTasks(desk, [task])
    const viewport = { width: 390, height: 844 }
    const page = await desk.open('/trash', { viewport, hasTouch: true, isMobile: true })
    await trashOf(page)
      .getByRole('button', { name: /^Restore/ })
      .waitFor()
    expect(await violationsOn(page)).toEqual([])
    expect(await smallTargets(page, 44)).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBeLessThanOrEqual(0)
  })

  test('is read-only for a key without tasks:write', async ({ desk }) => {
    const task = await createTask(desk, { title: 'Read only' })
    await deleteTasks(desk, [task])
    const { body: reader } = await desk.service.post('/api/keys', { name: 'reader', scopes: ['tasks:read'] })
    const page = await desk.open('/trash', { key: reader.key })
    await trashOf(page).getByText('Read only').waitFor()
    await expect.poll(() => trashOf(page).getByRole('button').count()).toBe(0)
  })
})

const labelsOf = (buttons: { getAttribute(name: string): string | null }[]) =>
  buttons.map((button) => button.getAttribute('aria-label'))

async function inboxProject({ service }: Desk): Promise<string> {
  return (await service.get('/api/projects')).body.data[0].id
}
