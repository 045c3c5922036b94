import { createServer } from 'node:net'
import { afterEach, describe, expect } from 'vitest'
import { ADMIN_KEY, cleanUp, type Inlet, spawnInlet } from '../support/inlet-process.ts'
import { rowOf, signIn, test } from './support/browser.ts'

afterEach(cleanUp)

const LOST = 'The connection to Inlet is gone'
/** A page finds the service again within three seconds; a busy machine takes its time to draw that. */
const SOON = { timeout: 12_000 }
/** A start on a busy machine. */
const A_WHILE = { timeout: 90_000 }

describe('a service that is started again under an open page', () => {
  test('is missed, is found again, and nothing that happened or was written meanwhile is lost', async ({
    desk,
  }) => {
    const { service } = desk
    const titles = ['Stays', 'Will be renamed', 'Will be deleted', 'Will be done']
    const ids = new Map<string, string>()
    for (const title of titles) ids.set(title, (await service.post('/api/tasks', { title })).body.id)
    const port = String(await freePort())
    const start = (): Inlet => spawnInlet({ env: { DATABASE_URL: service.connectionString, PORT: port } })
    const before = start()
    const url = await before.url

    const page = await desk.open('/tasks', { key: null })
    await signIn(page.context(), url, ADMIN_KEY)
    const stream = page.waitForResponse((response) => response.url().endsWith('/api/stream'))
    await page.goto(`${url}/tasks/${ids.get('Stays')}`)
    for (const title of titles) await rowOf(page, title).waitFor()
    await stream
    await page.getByRole('button', { name: 'Write notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('a long thought')

    before.process.kill('SIGTERM')
    await before.ended
    await page.getByText(LOST).waitFor(A_WHILE)
    // Another instance on the same database goes on, as behind a load balancer.
    await service.patch(`/api/tasks/${ids.get('Will be renamed')}`, { title: 'Was renamed' })
    await service.patch(`/api/tasks/${ids.get('Will be done')}`, { status: 'done' })
    await service.delete(`/api/tasks/${ids.get('Will be deleted')}`)
    await service.post('/api/tasks', { title: 'Made meanwhile' })

    const after = start()
    await after.url
    await page.getByText(LOST).waitFor({ state: 'detached', ...SOON })
    await rowOf(page, 'Made meanwhile').waitFor(A_WHILE)
    await rowOf(page, 'Was renamed').waitFor()
    await rowOf(page, 'Will be deleted').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open again: Will be done' }).waitFor()
    await expect.poll(() => page.getByRole('textbox', { name: 'Notes' }).inputValue()).toBe('a long thought')
    await page.getByRole('button', { name: 'Save notes' }).click()
    await expect
      .poll(async () => (await service.get(`/api/tasks/${ids.get('Stays')}`)).body.notes)
      .toBe('a long thought')
    await service.post('/api/tasks', { title: 'Made afterwards' })
    await rowOf(page, 'Made afterwards').waitFor()
  })
})

async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await new Promise<number>((resolve) => {
    probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port))
  })
  await new Promise((resolve) => probe.close(resolve))
  return port
}
