import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Desk, panelOf, startDesk } from './support/browser.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.close())

const statusOf = async (id: string) => (await desk.service.get(`/api/tasks/${id}`)).body.status

describe('the keyboard', () => {
  test('stays on its task when new ones come in above it', async () => {
    const { body: meant } = await desk.service.post('/api/tasks', { title: 'Meant by the keyboard' })
    const page = await desk.open('/tasks', { isLive: true })
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor()
    await page.keyboard.press('j')
    const { body: other } = await desk.service.post('/api/tasks', { title: 'Came in above' })
    await page.getByRole('link', { name: 'Came in above' }).waitFor()
    await page.keyboard.press('#')
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor({ state: 'detached' })
    expect(await statusOf(other.id)).toBe('open')
    expect((await desk.service.get(`/api/tasks/${meant.id}`)).status).toBe(404)
    await page.context().close()
  })

  test('acts on the task that is open though its row is not in the list', async () => {
    const { body: open } = await desk.service.post('/api/tasks', { title: 'Open elsewhere' })
    await desk.service.post('/api/tasks', { title: 'A high one', priority: 'high' })
    const page = await desk.open(`/tasks/${open.id}?priority=["high"]`, { isLive: true })
    await page.getByRole('link', { name: 'A high one' }).waitFor()
    await panelOf(page).getByText('Open elsewhere').waitFor()
    await page.keyboard.press('e')
    await expect.poll(() => statusOf(open.id)).toBe('done')
    await page.context().close()
  })

  test('takes back what was done last, and offers no more than that', async () => {
    const { body: older } = await desk.service.post('/api/tasks', {
      title: 'Done before',
      labels: ['undone'],
    })
    const { body: newer } = await desk.service.post('/api/tasks', { title: 'Done last', labels: ['undone'] })
    const page = await desk.open('/tasks?label=["undone"]', { isLive: true })
    await page.getByRole('button', { name: 'Mark done: Done before' }).click()
    await page.getByText('Done: Done before').waitFor()
    await page.getByRole('button', { name: 'Mark done: Done last' }).click()
    await page.getByText('Done: Done last').waitFor()
    await page.getByText('Done: Done before').waitFor({ state: 'detached' })
    await page.keyboard.press('z')
    await expect.poll(() => statusOf(newer.id)).toBe('open')
    expect(await statusOf(older.id)).toBe('done')
    await page.context().close()
  })

  test('adds a label on top of one that somebody else gave meanwhile', async () => {
    const { body: task } = await desk.service.post('/api/tasks', {
      title: 'Labelled by two',
      labels: ['first'],
    })
    const page = await desk.open('/tasks?q=labelled')
    // This page hears of nothing.
    await page.route(/updatedSince/, (route) => route.abort())
    await page.getByRole('link', { name: 'Labelled by two' }).hover()
    await page.getByLabel('Select Labelled by two').check()
    await desk.service.patch(`/api/tasks/${task.id}`, { labels: ['first', 'theirs'] })
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    await page.getByLabel('Label to add').fill('mine')
    await page.keyboard.press('Enter')
    const labels = async () => (await desk.service.get(`/api/tasks/${task.id}`)).body.labels
    await expect.poll(labels).toEqual(['first', 'theirs', 'mine'])
    await page.getByText('Label mine added: Labelled by two').waitFor()
    await page.keyboard.press('z')
    await expect.poll(labels).toEqual(['first', 'theirs'])
    await page.context().close()
  })
})
