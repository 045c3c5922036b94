import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Desk, startDesk } from './support/browser.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.close())

describe('changes by others', () => {
  test('appear at once, on every open tab', async () => {
    const one = await desk.open('/tasks')
    const other = await desk.open('/tasks', { context: one.context() })
    await one.getByText('Nothing has come in yet').waitFor()
    await other.getByText('Nothing has come in yet').waitFor()
    const { body: task } = await desk.service.post('/api/tasks', { title: 'Fresh from the API' })
    for (const page of [one, other]) await page.getByRole('link', { name: 'Fresh from the API' }).waitFor()
    await desk.service.patch(`/api/tasks/${task.id}`, { status: 'done' })
    for (const page of [one, other]) await page.getByRole('button', { name: /Open again: Fresh/ }).waitFor()
    // The tab that listened goes; the other one takes over.
    await one.close()
    await desk.service.patch(`/api/tasks/${task.id}`, { title: 'Renamed by the API' })
    await other.getByRole('link', { name: 'Renamed by the API' }).waitFor()
    await other.context().close()
  })

  test('wait behind a pill while somebody reads further down', async () => {
    const tasks = Array.from({ length: 60 }, (_, index) => ({ title: `Row ${index}` }))
    const { body: project } = await desk.service.post('/api/projects', { name: 'Long' })
    const lists = await desk.service.get(`/api/projects/${project.id}/lists`)
    const listId = lists.body.data[0].id
    await desk.service.post('/api/tasks/bulk', { listId, tasks })
    const page = await desk.open(`/tasks?projectId=${project.id}`)
    await page.getByRole('link', { name: 'Row 59' }).waitFor()
    await page.getByRole('region', { name: 'List of tasks' }).evaluate((region) => region.scrollTo(0, 600))
    await desk.service.post('/api/tasks', { title: 'Quietly new', listId })
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('link', { name: 'Quietly new' }).waitFor()
    await page.context().close()
  })

  test('made while the connection was away are not missed', async () => {
    const page = await desk.open('/tasks')
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await page.waitForTimeout(500)
    await page.context().setOffline(true)
    await desk.service.post('/api/tasks', { title: 'Made in the dark' })
    await page.waitForTimeout(300)
    await page.context().setOffline(false)
    await page.getByRole('link', { name: 'Made in the dark' }).waitFor({ timeout: 60_000 })
    expect(await page.getByText('The connection to Inlet is gone').count()).toBe(0)
    await page.context().close()
  })
})
