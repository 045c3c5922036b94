import { describe, expect } from 'vitest'
import {
  type AppInBrowser,
  createTask,
  delayRequests,
  expectNone,
  panelOf,
  rowOf,
  test,
  violationsOn,
} from './support/browser.ts'
import { isInView } from './support/looks.ts'

const comment = ({ service }: AppInBrowser, taskId: string, body: string, key?: string) =>
  service.post(`/api/tasks/${taskId}/comments`, { body }, key === undefined ? {} : { key })

const bodiesOf = async ({ service }: AppInBrowser, taskId: string) => {
  const { body } = await service.get(`/api/tasks/${taskId}/comments`)
  return body.data.map((one: { body: string }) => one.body)
}

describe('the comments on a task', () => {
  test('are written with m and Control+Enter, and shown before the service responds', async ({ app }) => {
    const task = await createTask(app, { title: 'Talk about it' })
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const panel = panelOf(page)
    await panel.getByText('created the task').waitFor()
    const box = panel.getByRole('textbox', { name: 'Comment' })
    // Shortcuts are off while the list behind the panel loads.
    await rowOf(page, 'Talk about it').waitFor()
    await page.keyboard.press('m')
    await expect.poll(() => box.evaluate((element) => element.matches(':focus'))).toBe(true)
    await page.keyboard.type('Seen on **two** machines')
    const release = await delayRequests(page, { url: '**/comments', method: 'POST' })
    await page.keyboard.press('Control+Enter')
    await panel.getByRole('status').locator('strong', { hasText: 'two' }).waitFor()
    await expect.poll(() => box.inputValue()).toBe('')
    release()
    await panel.getByRole('listitem').locator('strong', { hasText: 'two' }).waitFor()
    await rowOf(page, 'Talk about it').getByLabel('1 comment').waitFor()
    expect(await bodiesOf(app, task.id)).toEqual(['Seen on **two** machines'])
  })

  test('are sent once when the response is lost, and the draft survives a reload', async ({ app }) => {
    const task = await createTask(app, { title: 'Said once' })
    const page = await app.open(`/tasks/${task.id}`)
    const box = page.getByRole('textbox', { name: 'Comment' })
    await box.fill('only once')
    let isLost = true
    await page.route('**/comments', async (route) => {
      if (route.request().method() !== 'POST' || !isLost) return route.continue()
      isLost = false
      await route.fetch()
      return route.abort()
    })
    await box.press('Control+Enter')
    await page.getByText("Not saved: Inlet can't be reached").waitFor()
    await page.reload()
    await expect.poll(() => box.inputValue()).toBe('only once')
    await box.press('Control+Enter')
    await expect.poll(() => box.inputValue()).toBe('')
    await panelOf(page).getByRole('listitem').filter({ hasText: 'only once' }).waitFor()
    expect(await bodiesOf(app, task.id)).toEqual(['only once'])
  })

  test('are edited and deleted, and arrive live', async ({ app }) => {
    const task = await createTask(app, { title: 'Discussed' })
    await comment(app, task.id, 'A first thought')
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const first = panelOf(page).getByRole('listitem').filter({ hasText: 'first thought' })
    await first.getByRole('button', { name: 'Comment actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = page.getByRole('textbox', { name: 'Edit comment' })
    await editor.fill('A second thought')
    await editor.press('Control+Enter')
    const second = panelOf(page).getByRole('listitem').filter({ hasText: 'second thought' })
    await second.getByText('edited').waitFor()

    await comment(app, task.id, 'From elsewhere')
    await panelOf(page).getByText('From elsewhere').waitFor()
    await rowOf(page, 'Discussed').getByLabel('2 comments').waitFor()

    await second.getByRole('button', { name: 'Comment actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete comment' }).click()
    await second.waitFor({ state: 'detached' })
    await panelOf(page).getByText('deleted a comment').waitFor()
    expect(await bodiesOf(app, task.id)).toEqual(['From elsewhere'])
    await rowOf(page, 'Discussed').getByLabel('1 comment').waitFor()
  })

  test('of others cannot be changed without admin', async ({ app }) => {
    const task = await createTask(app, { title: 'Whose' })
    await comment(app, task.id, 'By the admin')
    const key = await app.service.given.key({ name: 'Ada', scopes: ['tasks:read', 'tasks:write'] })
    await comment(app, task.id, 'By Ada', key)
    const page = await app.open(`/tasks/${task.id}`, { key })
    const panel = panelOf(page)
    await panel.getByText('By Ada').waitFor()
    await expect.poll(() => panel.getByRole('button', { name: 'Comment actions' }).count()).toBe(1)
  })

  test('are loaded in parts, together with the activity', async ({ app }) => {
    const task = await createTask(app, { title: 'Much said' })
    for (let number = 1; number <= 35; number++) await comment(app, task.id, `Comment no. ${number}.`)
    const page = await app.open(`/tasks/${task.id}`)
    const panel = panelOf(page)
    await panel.getByText('Comment no. 35.').waitFor()
    await expectNone(page, panel.getByText('Comment no. 5.'))
    await panel.getByRole('button', { name: 'Show earlier activity' }).click()
    await panel.getByText('Comment no. 1.').waitFor()
    await panel.getByText('created the task').waitFor()
  })

  test('are opened by a link, also where the timeline is not loaded', async ({ app }) => {
    const task = await createTask(app, { title: 'Much said' })
    const { body: first } = await comment(app, task.id, 'The very first one.')
    for (let number = 1; number <= 65; number++) await comment(app, task.id, `Comment no. ${number}.`)
    const page = await app.open(`/tasks/${task.id}?edit=${first.id}`)
    const editor = page.getByRole('textbox', { name: 'Edit comment' })
    await expect.poll(() => editor.inputValue()).toBe('The very first one.')
    await expect.poll(() => editor.evaluate(isInView)).toBe(true)
    await panelOf(page).getByText('Comment no. 1.').waitFor()
  })

  test('fit a narrow screen, and both colour schemes', async ({ app }) => {
    const task = await createTask(app, { title: 'Talked about' })
    await comment(app, task.id, `Seen **again**: \`${'x'.repeat(300)}\`\n\n- one\n- two`)
    await comment(app, task.id, 'Fixed in 2.4.1?')
    const page = await app.open(`/tasks/${task.id}`, { viewport: { width: 390, height: 844 } })
    await panelOf(page).getByText('Fixed in 2.4.1?').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      expect(await violationsOn(page)).toEqual([])
    }
  })
})
