import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import type { Page } from '../tools/playwright.ts'
import { createTask, expectNone, testWith, violationsOn } from './support/browser.ts'
import { press } from './support/keys.ts'
import { givenPerson, openAs } from './support/people.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startApp()))

const bell = (page: Page, unread: number) =>
  page.getByRole('link', {
    name: unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`,
    exact: true,
  })
const texts = (page: Page) => page.locator('[data-notification]').allInnerTexts()
const path = (page: Page) => new URL(page.url()).pathname

describe('notifications', () => {
  test('come live, are opened and read by keys, and are read in all tabs', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await openAs(app, 'ada', '/tasks')
    await bell(page, 0).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${app.service.url}/tasks`)
    await bell(other, 0).waitFor()

    const task = await createTask(app, { title: 'Crash at start', assignees: ['ada'] })
    await bell(page, 1).waitFor()
    const comment = (body: string) => app.service.post(`/api/tasks/${task.id}/comments`, { body })
    expect((await comment('Can you look, @ada?')).status).toBe(201)
    await comment('It crashes here as well.')
    await comment('And here.')
    await bell(page, 3).waitFor()
    await bell(other, 3).waitFor()

    await press(page, 'g', 'n')
    await page.getByRole('heading', { name: 'Notifications' }).waitFor()
    await expect
      .poll(() => texts(page))
      .toEqual([
        expect.stringContaining('commented, 2 times'),
        expect.stringContaining('mentioned you'),
        expect.stringContaining('assigned the task to you'),
      ])
    expect((await texts(page)).every((text) => text.includes('Crash at start'))).toBe(true)
    expect(await violationsOn(page)).toEqual([])

    // Reads the first, and opens the second.
    await press(page, 'j', 'e')
    await bell(page, 2).waitFor()
    await bell(other, 2).waitFor()
    await expect.poll(() => page.locator('[data-notification]').count()).toBe(2)
    await press(page, 'j', 'Enter')
    await expect.poll(() => path(page)).toBe(`/tasks/${task.id}`)
    await bell(other, 1).waitFor()

    await press(page, 'g', 'n')
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await page.getByText('Nothing is unread').waitFor()
    await bell(page, 0).waitFor()
    await bell(other, 0).waitFor()
    await page.getByRole('link', { name: 'View all notifications' }).click()
    await expect.poll(() => page.locator('[data-notification]').count()).toBe(3)
  })

  test('of comments can be switched off and on for a task', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'viewer' })
    const task = await createTask(app, { title: 'Followed' })
    const page = await openAs(app, 'ada', `/tasks/${task.id}`)
    const item = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name, exact: true }).click()
    }
    await item('Follow')
    await app.service.post(`/api/tasks/${task.id}/comments`, { body: 'First.' })
    await bell(page, 1).waitFor()
    await item('Unfollow')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Follow', exact: true }).waitFor()
    await app.service.post(`/api/tasks/${task.id}/comments`, { body: 'Second.' })
    // A later one shows that the comment told nobody.
    await app.service.patch(`/api/tasks/${task.id}`, { assignees: ['ada'] })
    await bell(page, 2).waitFor()
    await page.goto(`${app.service.url}/notifications`)
    await expect
      .poll(() => texts(page))
      .toEqual([expect.stringContaining('assigned the task to you'), expect.not.stringContaining('times')])
  })

  test('are for people', async ({ app }) => {
    const page = await app.open('/notifications')
    await page.getByText('Only people have notifications').waitFor()
    await expectNone(page, page.getByRole('link', { name: /^Notifications/ }))
  })
})
