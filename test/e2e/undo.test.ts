import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createTask, type Desk, delayRequests, panelOf, test } from './support/browser.ts'

const taskOf = async ({ service }: Desk, id: string) => (await service.get(`/api/tasks/${id}`)).body
const statusOf = async (desk: Desk, id: string) => (await taskOf(desk, id)).status

/** Shortcuts need the focus outside of inputs. */
async function pressUndo(page: Page) {
  await page.evaluate('document.activeElement?.blur()')
  await page.keyboard.press('z')
}

describe('undo', () => {
  test('reverts one step at a time and reports when nothing is left', async ({ desk }) => {
    const older = await createTask(desk, { title: 'Done before', labels: ['undone'] })
    const newer = await createTask(desk, { title: 'Done last', labels: ['undone'] })
    const page = await desk.open('/tasks?label=["undone"]', { isLive: true })
    await page.getByRole('button', { name: 'Mark done: Done before' }).click()
    await page.getByText('Done: Done before').waitFor()
    await page.getByRole('button', { name: 'Mark done: Done last' }).click()
    await page.getByText('Done: Done last').waitFor()
    // One offer at a time; the key reaches what is behind it.
    await page.getByText('Done: Done before').waitFor({ state: 'detached' })
    await page.keyboard.press('z')
    await page.getByText('Undone: “Done: Done last”').waitFor()
    expect([await statusOf(desk, newer.id), await statusOf(desk, older.id)]).toEqual(['open', 'done'])
    await page.keyboard.press('z')
    await page.getByText('Undone: “Done: Done before”').waitFor()
    expect(await statusOf(desk, older.id)).toBe('open')
    await page.keyboard.press('z')
    await page.getByText('Nothing to undo').waitFor()
  })

  test('reverts every edit of a task, newest first', async ({ desk }) => {
    const { project, inbox } = await twoLists(desk)
    const task = await createTask(desk, {
      title: 'As it was',
      listId: inbox,
      labels: ['kept', 'gone'],
      assignees: ['ada'],
    })
    const page = await desk.open(`/tasks/${task.id}?projectId=${project}`, { isLive: true })
    const steps = await editEverything(desk, page, task.id)
    for (const state of steps.toReversed()) {
      await pressUndo(page)
      await expect.poll(() => editable(desk, task.id)).toEqual(state)
    }
  })

  test('is offered after each edit', async ({ desk }) => {
    const task = await createTask(desk, { title: 'Renamed by hand' })
    const page = await desk.open(`/tasks/${task.id}`)
    await rename(page, 'Renamed by hand', 'Another name')
    const toast = page.getByRole('alert').filter({ hasText: 'Title changed: Another name' })
    await toast.getByRole('button', { name: 'Undo' }).click()
    await panelOf(page).getByRole('heading', { name: 'Renamed by hand' }).waitFor()
    await expect.poll(async () => (await taskOf(desk, task.id)).title).toBe('Renamed by hand')
    await page.getByText('Undone: “Title changed: Another name”').waitFor()
  })

  test('keeps a field that someone changed since, and reports it', async ({ desk }) => {
    const older = await createTask(desk, { title: 'Only mine' })
    const task = await createTask(desk, { title: 'Contended' })
    const page = await desk.open('/tasks', { isLive: true })
    await page.getByRole('button', { name: 'Mark done: Only mine' }).click()
    await page.getByText('Done: Only mine').waitFor()
    await page.getByRole('button', { name: 'Mark done: Contended' }).click()
    await page.getByText('Done: Contended').waitFor()
    await desk.service.patch(`/api/tasks/${task.id}`, { status: 'in_progress' })
    await page.keyboard.press('z')
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't undo “Done: Contended”" })
    await refusal.getByText('Someone else has changed the status since.').waitFor()
    expect(await statusOf(desk, task.id)).toBe('in_progress')
    // Older actions can still be undone.
    await page.keyboard.press('z')
    await expect.poll(() => statusOf(desk, older.id)).toBe('open')
  })

  test('can be retried after a network error', async ({ desk }) => {
    const task = await createTask(desk, { title: 'Out of reach' })
    const page = await desk.open('/tasks')
    await page.getByRole('button', { name: 'Mark done: Out of reach' }).click()
    await page.getByText('Done: Out of reach').waitFor()
    await page.route('**/api/tasks/*', (route) => route.abort())
    await page.keyboard.press('z')
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't undo “Done: Out of reach”" })
    await refusal.waitFor()
    await page.unroute('**/api/tasks/*')
    await refusal.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => statusOf(desk, task.id)).toBe('open')
  })

  test('applies to the request that is still running', async ({ desk }) => {
    const older = await createTask(desk, { title: 'Long done' })
    const newer = await createTask(desk, { title: 'Slow to be done' })
    const page = await desk.open('/tasks')
    await page.getByRole('button', { name: 'Mark done: Long done' }).click()
    await page.getByText('Done: Long done').waitFor()
    const release = await delayRequests(page, `**/api/tasks/${newer.id}`, 'PATCH')
    const sent = page.waitForRequest(
      (request) => request.method() === 'PATCH' && request.url().endsWith(newer.id),
    )
    await page.getByRole('button', { name: 'Mark done: Slow to be done' }).click()
    await sent
    await page.keyboard.press('z')
    release()
    await page.getByText('Undone: “Done: Slow to be done”').waitFor()
    expect([await statusOf(desk, newer.id), await statusOf(desk, older.id)]).toEqual(['open', 'done'])
  })
})

async function twoLists({ service }: Desk) {
  const { body: project } = await service.post('/api/projects', { name: 'Undoing' })
  const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
  await service.post(`/api/projects/${project.id}/lists`, { name: 'Later' })
  return { project: project.id as string, inbox: lists.data[0].id as string }
}

/** The editable fields of a task. */
async function editable(desk: Desk, id: string) {
  const { title, status, priority, listId, labels, assignees, notes } = await taskOf(desk, id)
  return { title, status, priority, listId, labels, assignees, notes }
}

/** Edits each property once, waiting for each; returns what the task was before each edit. */
async function editEverything(desk: Desk, page: Page, id: string) {
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
    () => rename(page, 'As it was', 'As it is'),
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
    const { version } = await taskOf(desk, id)
    states.push(await editable(desk, id))
    await edit()
    await expect.poll(async () => (await taskOf(desk, id)).version).toBe(version + 1)
  }
  return states
}

async function rename(page: Page, from: string, to: string) {
  await panelOf(page).getByRole('button', { name: from }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill(to)
  await page.keyboard.press('Enter')
}
