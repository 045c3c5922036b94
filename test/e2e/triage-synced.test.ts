import { describe, expect } from 'vitest'
import { startSyncing } from '../support/syncing.ts'
import type { Page } from '../tools/playwright.ts'
import { panelOf, rowOf, taskOf, testWith } from './support/browser.ts'
import { openAndClosePalette } from './support/keys.ts'

const test = testWith(() => startSyncing())

const highlighted = (page: Page) => page.locator('[data-task][aria-current]')

describe('a sync that closes what is being triaged', () => {
  test('takes it off the list, and the next key acts on what is highlighted then', async ({ app }) => {
    const { service } = app
    const { project, repository, sync } = await service.connected()
    await sync()
    const titles = ['First', 'Second', 'Third', 'Fourth', 'Fifth']
    for (const title of titles) {
      repository.issue({ title })
      await sync()
    }
    const idOf = async (number: number) => (await service.tasksOf(project.id)).get(number)?.id
    const page = await app.open('/triage', { isLive: true })
    await rowOf(page, 'Fifth').waitFor()
    await openAndClosePalette(page)
    await page.keyboard.press('j')
    await expect.poll(() => highlighted(page).innerText()).toContain('Second')
    repository.close(2)
    await sync()
    await rowOf(page, 'Second').waitFor({ state: 'detached' })
    await expect.poll(() => highlighted(page).innerText()).toContain('Third')
    await page.keyboard.press('h')
    await page.getByRole('combobox', { name: 'Snooze until' }).waitFor()
    await page.keyboard.press('2')
    await expect.poll(async () => (await taskOf(app, await idOf(3))).snoozedUntil).not.toBe(null)
    await rowOf(page, 'Third').waitFor({ state: 'detached' })
    expect(await taskOf(app, await idOf(2))).toMatchObject({ status: 'done', closedReason: 'completed' })

    // At the moment of the key: the one that is highlighted then, as the page shows it.
    await expect.poll(() => highlighted(page).innerText()).toContain('Fourth')
    repository.close(4)
    const syncing = sync()
    const target = await highlighted(page).getAttribute('data-task')
    await page.keyboard.press('y')
    await syncing
    await page.getByText('2 left').waitFor()
    expect(await taskOf(app, target ?? '')).toMatchObject({ triaged: true })
    expect(await taskOf(app, await idOf(5))).toMatchObject({ triaged: false, status: 'open' })
    await expect.poll(() => highlighted(page).innerText()).toContain('Fifth')

    // Beside an open task: it stays with its reader, and a key decides about it.
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('Fifth').waitFor()
    repository.close(5)
    await sync()
    await rowOf(page, 'Fifth').waitFor({ state: 'detached' })
    await panelOf(page).getByText('Fifth').waitFor()
    await page.keyboard.press('j')
    await panelOf(page).getByText('First', { exact: true }).waitFor()
  })
})
