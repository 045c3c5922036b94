import { describe, expect } from 'vitest'
import { type AppInBrowser, delayRequests, panelOf, test } from './support/browser.ts'

/** A project of its own, with the list that its tasks go to. */
async function projectOf({ service }: AppInBrowser, name: string) {
  const { body: project } = await service.post('/api/projects', { name })
  const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
  return { project, listId: lists.data[0].id }
}

const LOST = 'Connection lost'

describe('changes by others', () => {
  test('appear immediately in every open tab', async ({ app }) => {
    const one = await app.open('/tasks', { isLive: true })
    const other = await app.open('/tasks', { context: one.context() })
    await one.getByText('No tasks yet').waitFor()
    await other.getByText('No tasks yet').waitFor()
    const { body: task } = await app.service.post('/api/tasks', { title: 'Fresh from the API' })
    for (const page of [one, other]) await page.getByRole('link', { name: 'Fresh from the API' }).waitFor()
    await app.service.patch(`/api/tasks/${task.id}`, { status: 'done' })
    for (const page of [one, other]) await page.getByRole('button', { name: /Reopen: Fresh/ }).waitFor()
    // The tab that listened goes; the other one takes over.
    await one.close()
    await app.service.patch(`/api/tasks/${task.id}`, { title: 'Renamed by the API' })
    await other.getByRole('link', { name: 'Renamed by the API' }).waitFor()
  })

  test('wait behind a button while the list is scrolled down', async ({ app }) => {
    const tasks = Array.from({ length: 60 }, (_, index) => ({ title: `Row ${index}` }))
    const { project, listId } = await projectOf(app, 'Long')
    await app.service.post('/api/tasks/bulk', { listId, tasks })
    const page = await app.open(`/tasks?projectId=${project.id}`, { isLive: true })
    await page.getByRole('link', { name: 'Row 59' }).waitFor()
    await page.getByRole('region', { name: 'List of tasks' }).evaluate((region) => region.scrollTo(0, 600))
    await app.service.post('/api/tasks', { title: 'Quietly new', listId })
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('link', { name: 'Quietly new' }).waitFor()
  })

  test('close the open task when it is deleted', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', { title: 'Open and deleted' })
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    await page.getByRole('link', { name: 'Open and deleted' }).waitFor()
    await app.service.delete(`/api/tasks/${task.id}`)
    await page.getByText('Task not found').waitFor()
    await page.getByRole('link', { name: 'Open and deleted' }).waitFor({ state: 'detached' })
  })

  test('made while the connection was down appear later', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', { title: 'Deleted in the dark' })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByRole('link', { name: 'Deleted in the dark' }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    // Going offline does not cut a stream that is open; what ends it does.
    app.service.app.server.closeAllConnections()
    await app.service.post('/api/tasks', { title: 'Made in the dark' })
    await app.service.delete(`/api/tasks/${task.id}`)
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Made in the dark' }).waitFor({ timeout: 60_000 })
    await page.getByRole('link', { name: 'Deleted in the dark' }).waitFor({ state: 'detached' })
    await page.getByText('You are offline').waitFor({ state: 'detached' })
    await page.getByText(LOST).waitFor({ state: 'detached' })
  })

  test('insert restored, moved and newly matching tasks at their position', async ({ app }) => {
    const { project, listId } = await projectOf(app, 'Elsewhere')
    const create = async (body: object) => (await app.service.post('/api/tasks', body)).body
    const moved = await create({ title: 'Moved in', priority: 'high' })
    const fitting = await create({ title: 'Now fits', priority: 'low', listId })
    const restored = await create({ title: 'Restored', priority: 'high', listId })
    await create({ title: 'There all along', priority: 'high', listId })
    await app.service.delete(`/api/tasks/${restored.id}`)
    const page = await app.open(`/tasks?projectId=${project.id}&priority=["high"]`, { isLive: true })
    await page.getByRole('link', { name: 'There all along' }).waitFor()
    await app.service.patch(`/api/tasks/${moved.id}`, { listId })
    await app.service.patch(`/api/tasks/${fitting.id}`, { priority: 'high' })
    await app.service.post(`/api/tasks/${restored.id}/restore`)
    const titles = () => page.getByRole('list').getByRole('listitem').getByRole('link').allTextContents()
    await expect.poll(titles).toEqual(['There all along', 'Restored', 'Now fits', 'Moved in'])
  })

  test('are in an inactive list when it is reopened', async ({ app }) => {
    const { project, listId } = await projectOf(app, 'Left behind')
    const create = async (body: object) => (await app.service.post('/api/tasks', { listId, ...body })).body
    const urgent = await create({ title: 'Urgent once', priority: 'high' })
    await create({ title: 'Urgent still', priority: 'high' })
    const left = `/tasks?projectId=${project.id}&priority=["high"]`
    const page = await app.open(left, { isLive: true })
    await page.getByRole('link', { name: 'Urgent once' }).waitFor()
    await page.getByRole('link', { name: 'All tasks' }).click()
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await app.service.patch(`/api/tasks/${urgent.id}`, { priority: 'low' })
    await create({ title: 'Urgent now', priority: 'high' })
    await page.getByRole('link', { name: 'Urgent now' }).waitFor()
    await page.goBack()
    const titles = () => page.getByRole('list').getByRole('listitem').getByRole('link').allTextContents()
    await expect.poll(titles).toEqual(['Urgent now', 'Urgent still'])
    // The same for one that was only asked for because the pointer came by.
    await page.getByRole('link', { name: 'All tasks' }).click()
    const asked = page.waitForResponse((response) => response.url().includes(`projectId=${project.id}`))
    const link = page.getByRole('link', { name: /^Left behind/ })
    await link.hover()
    await asked
    await create({ title: 'After a look' })
    await page.getByRole('link', { name: 'After a look' }).waitFor()
    await link.click()
    await expect.poll(titles).toEqual(['After a look', 'Urgent now', 'Urgent still', 'Urgent once'])
  })

  test('keep the scroll position when a deletion is undone', async ({ app }) => {
    const { project, listId } = await projectOf(app, 'Deep')
    const tasks = Array.from({ length: 90 }, (_, index) => ({ title: `Deep ${index}.` }))
    await app.service.post('/api/tasks/bulk', { listId, tasks })
    const page = await app.open(`/tasks?projectId=${project.id}`)
    const scroller = page.getByRole('region', { name: 'List of tasks' })
    await page.getByRole('listitem').first().waitFor()
    const row = page.getByRole('link', { name: 'Deep 20.' })
    await expect
      .poll(async () => {
        await scroller.evaluate((region) => region.scrollTo(0, 2_400))
        return await row.count()
      })
      .toBe(1)
    await row.click()
    await panelOf(page).getByText('Deep 20.').waitFor()
    await page.keyboard.press('#')
    await row.waitFor({ state: 'detached' })
    await page.getByText('Deleted: Deep 20.').waitFor()
    await page.keyboard.press('z')
    await row.waitFor()
    expect(await scroller.evaluate((region) => region.scrollTop)).toBeGreaterThan(1_000)
  })

  test('made while the page was loading appear', async ({ app }) => {
    const page = await app.open('/sign-in')
    await app.service.post('/api/tasks', { title: 'Loaded at first' })
    const follow = await delayRequests(page, { url: '**/api/stream?*' })
    await page.goto(`${app.service.url}/tasks`)
    await page.getByRole('link', { name: 'Loaded at first' }).waitFor()
    await app.service.post('/api/tasks', { title: 'Before anybody listened' })
    follow()
    await page.getByRole('link', { name: 'Before anybody listened' }).waitFor()
  })

  test('are requested again after a failed request', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', { title: 'Before the failure' })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByRole('link', { name: 'Before the failure' }).waitFor()
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('updatedSince'))
    await page.route(/updatedSince/, (route) => route.abort())
    await app.service.patch(`/api/tasks/${task.id}`, { title: 'After the failure' })
    await failed
    await page.unroute(/updatedSince/)
    await page.getByRole('link', { name: 'After the failure' }).waitFor()
  })

  test('continue after signing in again', async ({ app }) => {
    const page = await app.open('/tasks', { isLive: true })
    await app.service.query('DELETE FROM sessions')
    // The service looks after its streams and ends this one; nobody needs to click for that.
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('API key').fill(app.service.adminKey)
    const stream = page.waitForResponse(
      (response) => response.url().includes('/api/stream') && response.status() === 200,
    )
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await stream
    await app.service.post('/api/tasks', { title: 'After signing in again' })
    await page.getByRole('link', { name: 'After signing in again' }).waitFor()
  })
})
describe('projects, lists and routing rules changed by others', () => {
  test('appear immediately', async ({ app }) => {
    const { post, patch } = app.service
    const page = await app.open('/tasks', { isLive: true })
    const sidebar = page.getByRole('navigation', { name: 'Tasks' })
    const { project } = await projectOf(app, 'Made elsewhere')
    await sidebar.getByRole('link', { name: /^Made elsewhere/ }).click()
    await post(`/api/projects/${project.id}/lists`, { name: 'Listed elsewhere' })
    await sidebar.getByRole('link', { name: /^Listed elsewhere/ }).waitFor()
    await patch(`/api/projects/${project.id}`, { name: 'Renamed elsewhere' })
    await page.getByRole('heading', { name: 'Renamed elsewhere' }).waitFor()

    const routing = await app.open('/settings/routing', { context: page.context() })
    await routing.getByText('No rules yet').waitFor()
    const { body: rule } = await post('/api/webhook-routing', {
      appMatch: 'com.elsewhere',
      targetProjectId: project.id,
    })
    const item = routing.getByRole('listitem').filter({ hasText: 'com.elsewhere' })
    await item.waitFor()
    await app.service.delete(`/api/webhook-routing/${rule.id}`)
    await item.waitFor({ state: 'detached' })
  })
})
