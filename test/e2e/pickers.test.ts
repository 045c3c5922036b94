import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import {
  type AppInBrowser,
  createTask,
  delayRequests,
  expectNone,
  rowOf,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'
import { press } from './support/keys.ts'
import { givenPerson, openAs } from './support/people.ts'

const pickerOf = (page: Page, name: string) => page.getByRole('combobox', { name })
const optionOf = (page: Page, name: string) => page.getByRole('option', { name })
const closed = (page: Page) =>
  page.getByRole('dialog', { name: 'Command palette' }).waitFor({ state: 'detached' })

/** A list of one task, which has the focus. */
async function openFocused(app: AppInBrowser, title: string) {
  const page = await app.open('/tasks')
  await rowOf(page, title).waitFor()
  await press(page, 'j')
  return page
}

describe('numbers in a picker', () => {
  test('choose a value at once, and are shown', async ({ app }) => {
    const { given } = app.service
    const { id: projectId, inbox } = await given.project({ name: 'Mobile' })
    const { body: later } = await app.service.post(`/api/projects/${projectId}/lists`, { name: 'Later' })
    const task = await given.task(inbox, { title: 'Numbered' })
    await given.task(inbox, { title: 'Other', assignees: ['ada'] })
    const page = await app.open('/tasks?q=numbered')
    await rowOf(page, 'Numbered').waitFor()
    await press(page, 'j', 'p')
    await expect.poll(() => optionOf(page, 'Low').getAttribute('aria-keyshortcuts')).toBe('3')
    await expect.poll(() => optionOf(page, 'Low').locator('kbd').innerText()).toBe('3')
    expect(await violationsOn(page)).toEqual([])
    await press(page, '3')
    await page.getByText('Priority low: Numbered').waitFor()
    await press(page, 's', '2')
    await page.getByText('In progress: Numbered').waitFor()
    await press(page, 'v')
    await optionOf(page, 'Later').waitFor()
    const number = await optionOf(page, 'Later').getAttribute('aria-keyshortcuts')
    await press(page, String(number))
    await press(page, 'a', '1')
    await page.getByText('Assignee ada added: Numbered').waitFor()
    await closed(page)
    expect(await taskOf(app, task.id)).toMatchObject({
      priority: 'low',
      status: 'in_progress',
      assignees: ['ada'],
      listId: later.id,
    })
  })

  test('are text when text is typed, or when no option has them', async ({ app }) => {
    const task = await createTask(app, { title: 'Versions', labels: ['bug'] })
    const page = await openFocused(app, 'Versions')
    await press(page, 'l')
    await optionOf(page, 'bug').waitFor()
    await press(page, 'v', '1', 'Enter', '7', '.', '1', 'Enter', ' ', '1', 'x', 'Enter', 'Escape')
    await expect.poll(async () => (await taskOf(app, task.id)).labels).toEqual(['bug', 'v1', '7.1', '1x'])
    // There are none in the list of all commands.
    await press(page, 'Control+k', '1')
    await expect.poll(() => pickerOf(page, 'Command palette').inputValue()).toBe('1')
  })

  test('pressed before the names are loaded count, also with Escape right after', async ({ app }) => {
    const second = await createTask(app, { title: 'Second' })
    const first = await createTask(app, { title: 'First' })
    await createTask(app, { title: 'Named', labels: ['bug'], assignees: ['ada'] })
    const page = await app.open('/tasks')
    await rowOf(page, 'Second').waitFor()
    const release = await delayRequests(page, { url: /\/api\/(labels|assignees)/ })
    await press(page, 'j', 'j', 'l', '1', 'Escape', 'j', 'a', '1', 'e')
    await closed(page)
    release()
    const written = async ({ id }: { id: string }) => {
      const { labels, assignees, status } = await taskOf(app, id)
      return [...labels, ...assignees, status]
    }
    await expect.poll(() => written(first)).toEqual(['bug', 'open'])
    await expect.poll(() => written(second)).toEqual(['ada', 'done'])
  })
})

describe('the picker of labels', () => {
  test('stays open, adds and removes, and says what is set', async ({ app }) => {
    const task = await createTask(app, { title: 'Labelled' })
    await createTask(app, { title: 'Named', labels: ['alpha', 'beta', 'gamma'] })
    const page = await app.open('/tasks?q=labelled')
    await rowOf(page, 'Labelled').waitFor()
    await press(page, 'j', 'l')
    const current = page.getByLabel('Current value')
    await optionOf(page, 'gamma').waitFor()
    const labels = async () => (await taskOf(app, task.id)).labels
    await press(page, '1', '2')
    await expect.poll(() => current.count()).toBe(2)
    await expect.poll(labels).toEqual(['alpha', 'beta'])
    await press(page, '1', 'g', 'a', 'm', 'Enter')
    await expect.poll(() => pickerOf(page, 'Add or remove label').inputValue()).toBe('')
    await expect.poll(labels).toEqual(['beta', 'gamma'])
    await expectNone(page, optionOf(page, 'alpha').getByLabel('Current value'))
    expect(await violationsOn(page)).toEqual([])
    // Again with Enter on the highlighted one, which keeps the highlight.
    await press(page, 'ArrowDown', 'Enter', 'Enter', 'Enter')
    await expect.poll(labels).toEqual(['gamma'])
    await press(page, 'Control+Enter')
    await closed(page)
    await press(page, 'l', '1', 'Escape')
    await closed(page)
    await expect.poll(labels).toEqual([])
    await press(page, 'z')
    await expect.poll(labels).toEqual(['gamma'])
  })

  test('takes back the mark of what could not be saved', async ({ app }) => {
    await createTask(app, { title: 'Refused', labels: ['alpha'] })
    await createTask(app, { title: 'Named', labels: ['beta'] })
    const page = await app.open('/tasks?q=refused')
    await rowOf(page, 'Refused').waitFor()
    await page.route(/\/api\/tasks\/[^/]+$/, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 404, json: {} }) : route.continue(),
    )
    await press(page, 'j', 'l')
    await optionOf(page, 'beta').waitFor()
    await press(page, '2')
    await page.getByText("Not saved: Inlet can't be reached").waitFor()
    await expect.poll(() => page.getByLabel('Current value').count()).toBe(1)
  })
})

describe('the picker of assignees', () => {
  test('has people, oneself first, found by their names', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada Lovelace', role: 'member' })
    await givenPerson(app, { username: 'grace', name: 'Grace Hopper', role: 'member' })
    const task = await createTask(app, { title: 'To be assigned', assignees: ['octocat'] })
    const page = await openAs(app, 'grace', '/tasks')
    await rowOf(page, 'To be assigned').waitFor()
    await press(page, 'j', 'a')
    await optionOf(page, 'ada').waitFor()
    await expect
      .poll(() => page.getByRole('option').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^grace\s+Grace Hopper \(you\)/),
        expect.stringMatching(/^ada\s+Ada Lovelace/),
        expect.stringMatching(/^octocat/),
      ])
    await press(page, '1')
    await page.getByText('Assignee grace added: To be assigned').waitFor()
    await press(page, 'a')
    await page.keyboard.type('lovelace')
    await press(page, 'Enter')
    await page.getByText('Assignee ada added: To be assigned').waitFor()
    expect((await taskOf(app, task.id)).assignees).toEqual(['octocat', 'grace', 'ada'])
  })
})
