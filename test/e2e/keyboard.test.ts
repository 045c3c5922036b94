import { describe, expect } from 'vitest'
import { type Desk, panelOf, test } from './support/browser.ts'

const statusOf = async ({ service }: Desk, id: string) => (await service.get(`/api/tasks/${id}`)).body.status

describe('the keyboard', () => {
  test('stays on its task when new ones come in above it', async ({ desk }) => {
    const { body: meant } = await desk.service.post('/api/tasks', { title: 'Meant by the keyboard' })
    const page = await desk.open('/tasks', { isLive: true })
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor()
    await page.keyboard.press('j')
    const { body: other } = await desk.service.post('/api/tasks', { title: 'Came in above' })
    await page.getByRole('link', { name: 'Came in above' }).waitFor()
    await page.keyboard.press('#')
    await page.getByRole('link', { name: 'Meant by the keyboard' }).waitFor({ state: 'detached' })
    await expect.poll(async () => (await desk.service.get(`/api/tasks/${meant.id}`)).status).toBe(404)
    expect(await statusOf(desk, other.id)).toBe('open')
  })

  test('acts on the task that is open though its row is not in the list', async ({ desk }) => {
    const { body: open } = await desk.service.post('/api/tasks', { title: 'Open elsewhere' })
    await desk.service.post('/api/tasks', { title: 'A high one', priority: 'high' })
    const page = await desk.open(`/tasks/${open.id}?priority=["high"]`, { isLive: true })
    await page.getByRole('link', { name: 'A high one' }).waitFor()
    await panelOf(page).getByText('Open elsewhere').waitFor()
    await page.keyboard.press('e')
    await expect.poll(() => statusOf(desk, open.id)).toBe('done')
  })

  test('adds a label on top of one that somebody else gave meanwhile', async ({ desk }) => {
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
  })
})
