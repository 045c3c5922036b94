import { describe, expect } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import {
  type AppInBrowser,
  createTask,
  delayRequests,
  expectNone,
  panelOf,
  rowOf,
  smallTargets,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'

const block = ({ service }: AppInBrowser, { id }: Task, blockers: Task[]) =>
  service.patch(`/api/tasks/${id}`, { blockedBy: blockers.map((blocker) => blocker.id) })

async function givenTasks(app: AppInBrowser, ...titles: string[]): Promise<Task[]> {
  const tasks: Task[] = []
  for (const title of titles) tasks.push(await createTask(app, { title }))
  return tasks
}

describe('the tasks that block a task', () => {
  test('are added by the keyboard, listed, and removed', async ({ app }) => {
    const [task, first, second] = (await givenTasks(app, 'Ship it', 'Write the tests', 'Draw the icon')) as [
      Task,
      Task,
      Task,
    ]
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const panel = panelOf(page)
    const search = panel.getByRole('combobox', { name: 'Add a task that blocks this one' })
    await search.fill('tests')
    await page.getByRole('option', { name: 'Write the tests' }).waitFor()
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Write the tests'])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')

    const blockers = panel.getByRole('list', { name: 'Blocked by' })
    await blockers.getByRole('link', { name: 'Write the tests' }).waitFor()
    await rowOf(page, 'Ship it').getByText('Blocked', { exact: true }).waitFor()
    expect(await taskOf(app, task.id)).toMatchObject({ blockedBy: [first.id], isReady: false })
    await panel.getByText('added 1 task that blocks it').waitFor()

    await search.click()
    await page.getByRole('option', { name: 'Draw the icon' }).click()
    await blockers.getByRole('link', { name: 'Draw the icon' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    expect((await taskOf(app, task.id)).blockedBy).toEqual([first.id, second.id])

    await blockers.getByRole('button', { name: 'Remove Write the tests' }).click()
    await expect.poll(() => blockers.getByRole('listitem').count()).toBe(1)
    await expect.poll(async () => (await taskOf(app, task.id)).blockedBy).toEqual([second.id])
    await page.keyboard.press('z')
    await expect.poll(async () => (await taskOf(app, task.id)).blockedBy).toEqual([first.id, second.id])
  })

  test('are the highlighted ones, also if another has their place by then', async ({ app }) => {
    const [task, meant] = (await givenTasks(app, 'Ship it', 'Draw the icon')) as [Task, Task]
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const release = await delayRequests(page, { url: /\/api\/tasks\?.*q=icon/ })
    await panelOf(page).getByRole('combobox', { name: 'Add a task that blocks this one' }).click()
    await page.getByRole('option', { name: 'Draw the icon' }).waitFor()
    await page.keyboard.type('icon')
    await page.keyboard.press('ArrowDown')
    await page.locator('[data-combobox-selected]', { hasText: 'Draw the icon' }).waitFor()
    await createTask(app, { title: 'Choose an icon' })
    release()
    await page.getByRole('option', { name: 'Choose an icon' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await taskOf(app, task.id)).blockedBy).toEqual([meant.id])
  })

  test('are refused with their titles if they would make a cycle', async ({ app }) => {
    const [a, b, c] = (await givenTasks(app, 'Alpha', 'Beta', 'Gamma')) as [Task, Task, Task]
    await block(app, a, [b])
    await block(app, b, [c])
    const page = await app.open(`/tasks/${c.id}`, { isLive: true })
    await panelOf(page).getByRole('combobox', { name: 'Add a task that blocks this one' }).fill('Alpha')
    await page.getByRole('option', { name: 'Alpha' }).click()
    await page
      .getByText(
        '“Gamma” can’t be blocked by “Alpha”, because “Alpha” is blocked by “Beta”, which is blocked by “Gamma”.',
      )
      .waitFor()
    expect((await taskOf(app, c.id)).blockedBy).toEqual([])
  })

  test('let it go when they are done, in the row and in the panel, without a reload', async ({ app }) => {
    const [task, blocker, deleted] = (await givenTasks(app, 'Ship it', 'Write the tests', 'Old idea')) as [
      Task,
      Task,
      Task,
    ]
    await block(app, task, [blocker, deleted])
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const blockers = panelOf(page).getByRole('list', { name: 'Blocked by' })
    await blockers.getByRole('img', { name: 'Open' }).nth(1).waitFor()
    await rowOf(page, 'Ship it').getByText('Blocked', { exact: true }).waitFor()

    await app.service.delete(`/api/tasks/${deleted.id}`)
    await blockers.getByText('Deleted task').waitFor()
    await app.service.patch(`/api/tasks/${blocker.id}`, { status: 'done' })

    await blockers.getByRole('img', { name: 'Done' }).waitFor()
    await rowOf(page, 'Ship it').getByText('Blocked', { exact: true }).waitFor({ state: 'detached' })
  })

  test('leave only tasks that can be started, if the list is filtered by that', async ({ app }) => {
    const [task, blocker] = (await givenTasks(app, 'Ship it', 'Write the tests')) as [Task, Task]
    await block(app, task, [blocker])
    const page = await app.open('/tasks', { isLive: true })
    await rowOf(page, 'Ship it').waitFor()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByRole('button', { name: 'Ready to start' }).click()
    await rowOf(page, 'Ship it').waitFor({ state: 'detached' })
    await rowOf(page, 'Write the tests').waitFor()
    await page.getByRole('button', { name: 'Ready to start: Yes' }).click()
    await page.getByText('No', { exact: true }).click()
    await rowOf(page, 'Ship it').waitFor()
    await expect.poll(() => rowOf(page, 'Write the tests').count()).toBe(0)
  })

  test('fit on a phone, with targets large enough for a finger', async ({ app }) => {
    const [task, blocker] = (await givenTasks(
      app,
      'Ship it',
      'Write the tests of everything that this touches, and more',
    )) as [Task, Task]
    await block(app, task, [blocker])
    const options = {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      colorScheme: 'dark' as const,
    }
    const page = await app.open(`/tasks/${task.id}`, options)
    await panelOf(page)
      .getByRole('button', { name: /^Remove Write the tests/ })
      .waitFor()
    expect(await violationsOn(page)).toEqual([])
    const small = await smallTargets(page, 44)
    expect(small.filter((name) => /Remove Write|blocks this one/.test(name))).toEqual([])
  })

  test('are only shown to a key that may not write', async ({ app }) => {
    const [task, blocker] = (await givenTasks(app, 'Ship it', 'Write the tests')) as [Task, Task]
    await block(app, task, [blocker])
    const key = await app.service.given.key({ scopes: ['tasks:read'] })
    const page = await app.open(`/tasks/${task.id}`, { key })
    const blockers = panelOf(page).getByRole('list', { name: 'Blocked by' })
    await blockers.getByRole('link', { name: 'Write the tests' }).waitFor()
    await expectNone(page, blockers.getByRole('button'))
    await expectNone(page, panelOf(page).getByRole('combobox', { name: /blocks this one/ }))
  })
})
