import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import {
  createTask,
  delayRequests,
  expectNone,
  panelOf,
  rowOf,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'
import { press, pressAtOnce } from './support/keys.ts'
import { givenPerson, openAs } from './support/people.ts'

const path = (page: Page) => new URL(page.url()).pathname
const helpOf = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' })

describe('the key i', () => {
  test('assigns to me, and takes me off', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const first = await createTask(app, { title: 'First', assignees: ['bob'] })
    const second = await createTask(app, { title: 'Second', assignees: ['ada'] })
    const page = await openAs(app, 'ada', '/tasks')
    await rowOf(page, 'First').waitFor()
    const assignees = async () =>
      (await Promise.all([first, second].map(({ id }) => taskOf(app, id)))).map((task) => task.assignees)
    await press(page, 'j', 'i', 'j', 'i')
    await expect.poll(assignees).toEqual([['bob', 'ada'], []])
    await press(page, 'Control+a', 'i')
    await expect.poll(assignees).toEqual([['bob', 'ada'], ['ada']])
    await press(page, 'i')
    await expect.poll(assignees).toEqual([['bob'], []])
    // Twice at once: the second takes back what the first did, which the list does not show yet.
    const versionOf = async () => (await taskOf(app, first.id)).version
    const before = await versionOf()
    await pressAtOnce(page, ['i', 'i'])
    await expect.poll(versionOf).toBe(before + 2)
    expect(await assignees()).toEqual([['bob'], []])
  })

  test('says that a key is nobody', async ({ app }) => {
    await createTask(app, { title: 'Of nobody' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Of nobody').waitFor()
    await press(page, 'j', 'i')
    await page.getByText('Only people can be assigned').waitFor()
  })
})

describe('the key g', () => {
  test('goes with a letter, which does nothing else then', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const task = await createTask(app, { title: 'Not touched', assignees: ['ada'] })
    await createTask(app, { title: 'Of others' })
    const page = await openAs(app, 'ada', '/tasks')
    await rowOf(page, 'Not touched').waitFor()
    await press(page, 'j', 'j', 'g', 'm')
    await rowOf(page, 'Of others').waitFor({ state: 'detached' })
    await rowOf(page, 'Not touched').waitFor()
    await page.getByRole('heading', { name: 'My work' }).waitFor()
    const current = page.getByRole('navigation', { name: 'Tasks' }).locator('[aria-current=page]')
    await expect.poll(() => current.allTextContents()).toEqual(['My work'])
    await press(page, 'g', 'x')
    await expect.poll(() => path(page)).toBe('/trash')
    await press(page, 'g', 's')
    await expect.poll(() => path(page)).toBe('/settings/instructions')
    await press(page, 'g', 't')
    await expect.poll(() => path(page)).toBe('/triage')
    await press(page, 'g', 'a')
    await expect.poll(() => path(page)).toBe('/tasks')
    await rowOf(page, 'Of others').waitFor()
    // One that means nothing after g.
    await press(page, 'j', 'g', 'e', 'g', 'p')
    await page.getByRole('combobox', { name: 'Go to project' }).waitFor()
    await press(page, '1')
    await page.waitForURL(/projectId=/)
    expect((await taskOf(app, task.id)).version).toBe(1)
  })

  test('waits for its letter for some time', async ({ app }) => {
    const task = await createTask(app, { title: 'Done later' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Done later').waitFor()
    await page.clock.install()
    await press(page, 'j', 'g')
    await page.clock.runFor(2_000)
    await press(page, 'e')
    await expect.poll(async () => (await taskOf(app, task.id)).status).toBe('done')
  })
})

describe('the link of a task', () => {
  test('is copied with a key, also by a viewer', async ({ app }) => {
    await givenPerson(app, { username: 'eve', name: 'Eve', role: 'viewer' })
    const task = await createTask(app, { title: 'Linked' })
    const page = await openAs(app, 'eve', '/tasks')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await rowOf(page, 'Linked').waitFor()
    await press(page, 'j', '.')
    await page.getByText('Link copied').waitFor()
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(`${app.service.url}/tasks/${task.id}`)
  })
})

describe('single-key shortcuts', () => {
  test('can be switched off in the help and on in the palette, for the browser', async ({ app }) => {
    const task = await createTask(app, { title: 'Spoken to' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Spoken to').waitFor()
    await press(page, '?')
    const control = helpOf(page).getByRole('switch', { name: 'Single-key shortcuts' })
    await control.press('Space')
    await expect.poll(() => control.isChecked()).toBe(false)
    await press(page, 'Escape')
    await helpOf(page).waitFor({ state: 'detached' })
    await page.reload()
    await rowOf(page, 'Spoken to').waitFor()
    await page.getByRole('region', { name: 'List of tasks' }).focus()
    await press(page, 'ArrowDown', 'e', 'i', '.', 'g', 'x', 'c', 's', '?')
    await expectNone(page, page.getByRole('dialog'))
    expect(path(page)).toBe('/tasks')
    expect((await taskOf(app, task.id)).version).toBe(1)
    await press(page, 'Enter')
    await expect.poll(() => path(page)).toBe(`/tasks/${task.id}`)
    await press(page, 'Escape')
    await expect.poll(() => path(page)).toBe('/tasks')
    await press(page, 'Control+k')
    await page.keyboard.type('single')
    await press(page, 'Enter', 'e')
    await expect.poll(async () => (await taskOf(app, task.id)).status).toBe('done')
  })
})

describe('the help', () => {
  test('fits on a screen of 1280x720, and passes axe in both themes and on a phone', async ({ app }) => {
    for (const options of [
      { viewport: { width: 1280, height: 720 }, colorScheme: 'light' },
      { viewport: { width: 1280, height: 720 }, colorScheme: 'dark' },
      { viewport: { width: 390, height: 844 } },
    ] as const) {
      const page = await app.open('/tasks', { ...options, reducedMotion: 'reduce' })
      await page.getByRole('heading', { name: 'All tasks' }).waitFor()
      await press(page, '?')
      await helpOf(page).getByText('Merge all that are equal').waitFor()
      expect(await violationsOn(page)).toEqual([])
      const rest = (side: string) =>
        page.evaluate(`(({ scroll${side}, client${side} }) => scroll${side} - client${side})(
          document.querySelector('[role=dialog]'))`)
      await expect.poll(() => rest('Width')).toBe(0)
      if (options.viewport.width > 1_000) await expect.poll(() => rest('Height')).toBe(0)
      await page.close()
    }
  })
})

describe('a key is for the page', () => {
  test('after a click on the checkbox of a row', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Clicked' })
    const page = await app.open('/tasks')
    const checkbox = rowOf(page, 'Clicked').getByRole('checkbox')
    await checkbox.click()
    await press(page, ' ')
    await expect.poll(() => checkbox.isChecked()).toBe(false)
    await press(page, ' ', 'p', '1', 'e')
    await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'done', priority: 'high' })
  })

  test('after a choice in a chip', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Chosen' })
    const page = await app.open(`/tasks/${id}`)
    const chip = panelOf(page).getByRole('combobox', { name: 'Priority' })
    await chip.click()
    await page.getByRole('option', { name: 'High' }).click()
    await press(page, 'ArrowDown')
    await page.getByRole('option', { name: 'High' }).waitFor()
    await press(page, 'Escape')
    await page.getByRole('option', { name: 'High' }).waitFor({ state: 'detached' })
    await press(page, 'e')
    await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'done', priority: 'high' })
  })

  test('and what follows it is typed, however late the code comes', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Typed about' })
    const page = await app.open('/sign-in')
    const release = await delayRequests(page, { url: /assets\/palette-.*\.js/ })
    await page.goto(`${app.service.url}/tasks/${id}`)
    const comment = panelOf(page).getByRole('textbox', { name: 'Comment' })
    await comment.waitFor()
    await pressAtOnce(page, ['p', '1', 'm', ...'hello'])
    release()
    await expect.poll(() => comment.inputValue()).toBe('hello')
    await expect.poll(() => taskOf(app, id)).toMatchObject({ priority: 'high' })
  })
})
