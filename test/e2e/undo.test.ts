import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, delayRequests, panelOf, taskOf, test } from './support/browser.ts'

const statusOf = async (app: AppInBrowser, id: string) => (await taskOf(app, id)).status

/** Shortcuts need the focus outside of inputs. */
async function pressUndo(page: Page) {
  await page.evaluate('document.activeElement?.blur()')
  await page.keyboard.press('z')
}

describe('undo', () => {
  test('reverts one step at a time and reports when nothing is left', async ({ app }) => {
    const older = await createTask(app, { title: 'Done before', labels: ['undone'] })
    const newer = await createTask(app, { title: 'Done last', labels: ['undone'] })
    const page = await app.open('/tasks?label=["undone"]', { isLive: true })
    await page.getByRole('button', { name: 'Mark done: Done before' }).click()
    await page.getByText('Done: Done before').waitFor()
    await page.getByRole('button', { name: 'Mark done: Done last' }).click()
    await page.getByText('Done: Done last').waitFor()
    // One offer at a time; the key reaches what is behind it.
    await page.getByText('Done: Done before').waitFor({ state: 'detached' })
    await page.keyboard.press('z')
    await page.getByText('Undone: “Done: Done last”').waitFor()
    expect([await statusOf(app, newer.id), await statusOf(app, older.id)]).toEqual(['open', 'done'])
    await page.keyboard.press('z')
    await page.getByText('Undone: “Done: Done before”').waitFor()
    expect(await statusOf(app, older.id)).toBe('open')
    await page.keyboard.press('z')
    await page.getByText('Nothing to undo').waitFor()
  })

  test('reverts every edit of a task, newest first', async ({ app }) => {
    const { project, inbox } = await twoLists(app)
    const task = await createTask(app, {
      title: 'As it was',
      listId: inbox,
      labels: ['kept', 'gone'],
      assignees: ['ada'],
    })
    const page = await app.open(`/tasks/${task.id}?projectId=${project}`, { isLive: true })
    const steps = await editEverything(app, { page, id: task.id })
    for (const state of steps.toReversed()) {
      await pressUndo(page)
      await expect.poll(() => editable(app, task.id)).toEqual(state)
    }
  })

  test('is offered after each edit', async ({ app }) => {
    const task = await createTask(app, { title: 'Renamed by hand' })
    const page = await app.open(`/tasks/${task.id}`)
    await rename(page, { from: 'Renamed by hand', to: 'Another name' })
    const toast = page.getByRole('alert').filter({ hasText: 'Title changed: Another name' })
    await toast.getByRole('button', { name: 'Undo' }).click()
    await panelOf(page).getByRole('heading', { name: 'Renamed by hand' }).waitFor()
    await expect.poll(async () => (await taskOf(app, task.id)).title).toBe('Renamed by hand')
    await page.getByText('Undone: “Title changed: Another name”').waitFor()
  })

  test('keeps a field that someone changed since, and reports it', async ({ app }) => {
    const older = await createTask(app, { title: 'Only mine' })
    const task = await createTask(app, { title: 'Contended' })
    const page = await app.open('/tasks', { isLive: true })
    await page.getByRole('button', { name: 'Mark done: Only mine' }).click()
    await page.getByText('Done: Only mine').waitFor()
    await page.getByRole('button', { name: 'Mark done: Contended' }).click()
    await page.getByText('Done: Contended').waitFor()
    await app.service.patch(`/api/tasks/${task.id}`, { status: 'in_progress' })
    await page.keyboard.press('z')
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't undo “Done: Contended”" })
    await refusal.getByText('Someone else has changed the status since.').waitFor()
    expect(await statusOf(app, task.id)).toBe('in_progress')
    // Older actions can still be undone.
    await page.keyboard.press('z')
    await expect.poll(() => statusOf(app, older.id)).toBe('open')
  })

  test('can be retried after a network error', async ({ app }) => {
    const task = await createTask(app, { title: 'Out of reach' })
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'Mark done: Out of reach' }).click()
    await page.getByText('Done: Out of reach').waitFor()
    await page.route('**/api/tasks/*', (route) => route.abort())
    await page.keyboard.press('z')
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't undo “Done: Out of reach”" })
    await refusal.waitFor()
    await page.unroute('**/api/tasks/*')
    await refusal.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => statusOf(app, task.id)).toBe('open')
  })

  test('applies to the request that is still running', async ({ app }) => {
    const older = await createTask(app, { title: 'Long done' })
    const newer = await createTask(app, { title: 'Slow to be done' })
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'Mark done: Long done' }).click()
    await page.getByText('Done: Long done').waitFor()
    const release = await delayRequests(page, { url: `**/api/tasks/${newer.id}`, method: 'PATCH' })
    const sent = page.waitForRequest(
      (request) => request.method() === 'PATCH' && request.url().endsWith(newer.id),
    )
    await page.getByRole('button', { name: 'Mark done: Slow to be done' }).click()
    await sent
    await page.keyboard.press('z')
    release()
    await page.getByText('Undone: “Done: Slow to be done”').waitFor()
    expect([await statusOf(app, newer.id), await statusOf(app, older.id)]).toEqual(['open', 'done'])
  })
})

async function twoLists({ service }: AppInBrowser) {
  const { body: project } = await service.post('/api/projects', { name: 'Undoing' })
  const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
  await service.post(`/api/projects/${project.id}/lists`, { name: 'Later' })
  return { project: project.id as string, inbox: lists.data[0].id as string }
}

/** The editable fields of a task. */
async function editable(app: AppInBrowser, id: string) {
  const { title, status, priority, listId, labels, assignees, notes } = await taskOf(app, id)
  return { title, status, priority, listId, labels, assignees, notes }
}

/** Edits each property once, waiting for each; returns what the task was before each edit. */
async function editEverything(app: AppInBrowser, { page, id }: { page: Page; id: string }) {
  const panel = panelOf(page)
  const pick = async (name: string, option: string) => {
    await panel.getByRole('combobox', { name }).click()
    await page.getByRole('option', { name: option }).click()
  }
  const write = async (name: string, text: string) => {
    await panel.getByLabel(name).fill(text)
    await page.keyboard.press('Enter')
  }
  const edits = [
    () => rename(page, { from: 'As it was', to: 'As it is' }),
    () => pick('Status', 'In progress'),
    () => pick('Priority', 'High'),
    () => pick('List', 'Later'),
    () => write('Labels', 'added'),
    () => write('Assignees', 'grace'),
    async () => {
      await page.getByRole('button', { name: 'Add notes' }).click()
      await page.getByRole('textbox', { name: 'Notes' }).fill('noted')
      await page.getByRole('button', { name: 'Save notes' }).click()
    },
  ]
  const states = []
  for (const edit of edits) {
    const { version } = await taskOf(app, id)
    states.push(await editable(app, id))
    await edit()
    await expect.poll(async () => (await taskOf(app, id)).version).toBe(version + 1)
  }
  return states
}

async function rename(page: Page, { from, to }: { from: string; to: string }) {
  await panelOf(page).getByRole('button', { name: from }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill(to)
  await page.keyboard.press('Enter')
}
