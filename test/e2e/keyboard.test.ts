import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Desk, startDesk } from './support/browser.ts'

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
    await page.getByRole('complementary', { name: 'Task' }).getByText('Open elsewhere').waitFor()
    await page.keyboard.press('e')
    await expect.poll(() => statusOf(open.id)).toBe('done')
    await page.context().close()
  })
})
