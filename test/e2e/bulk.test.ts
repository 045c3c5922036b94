import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, createTask, delayRequests, rowOf, taskOf, test } from './support/browser.ts'

const MANY = 600

describe('a bulk edit', () => {
  test('of 600 rows sends one request per 100 rows, also when it is undone', async ({ app }) => {
    const { project, listId } = await projectOf(app)
    for (let from = 0; from < MANY; from += 100) {
      const priority = from < MANY / 2 ? 'low' : 'medium'
      const tasks = Array.from({ length: 100 }, (_, index) => ({ title: `Row ${from + index}`, priority }))
      await app.service.post('/api/tasks/bulk', { listId, tasks })
    }
    const page = await app.open(`/tasks?projectId=${project}&sort=createdAt`, { isLive: true })
    const writes = writesOf(page)
    await selectAll(page, { first: 'Row 0', last: `Row ${MANY - 1}` })
    await page.getByText(`${MANY} selected`).waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Priority' }).click()
    await page.getByRole('menuitem', { name: 'High' }).click()
    await page.getByText(`${MANY} tasks: Priority high.`).waitFor()
    expect(await prioritiesOf(app, project)).toEqual({ high: 600 })
    expect(writes.splice(0)).toEqual(Array(6).fill('/api/tasks/bulk'))
    await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`Undone: “${MANY} tasks: Priority high”`).waitFor()
    expect(await prioritiesOf(app, project)).toEqual({ low: 300, medium: 300 })
    expect(writes).toEqual(Array(6).fill('/api/tasks/bulk'))
  })

  test('reports the rows that failed and undoes the others', async ({ app }) => {
    const titles = ['Stays', 'Stays too', 'Gone before', 'Gone after', 'Theirs after']
    const tasks = new Map<string, string>()
    for (const title of titles) tasks.set(title, (await createTask(app, { title })).id)
    const idOf = (title: string) => tasks.get(title) ?? ''
    const page = await app.open('/tasks?sort=createdAt')
    await rowOf(page, 'Stays too').waitFor()
    // This page receives no updates.
    await page.route(/\/api\/(stream|activity\?since)/, (route) => route.abort())
    await app.service.query('UPDATE tasks SET deleted_at = now() WHERE id = $1', [idOf('Gone before')])
    await selectAll(page, { first: 'Stays', last: 'Theirs after' })
    await page.getByRole('toolbar').getByRole('button', { name: 'Mark done' }).click()
    await page.getByText('4 tasks: Done.').waitFor()
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't update 1 of 5 tasks" })
    await refusal.getByText('“Gone before”').waitFor()

    await app.service.delete(`/api/tasks/${idOf('Gone after')}`)
    await app.service.patch(`/api/tasks/${idOf('Theirs after')}`, { status: 'in_progress' })
    await page.keyboard.press('z')
    const half = page.getByRole('alert').filter({ hasText: "Couldn't undo “4 tasks: Done”" })
    await half.getByText(/2 of 4 tasks undone\. Changed by someone else since: “Theirs after”/).waitFor()
    await half.getByText('“Gone after”').waitFor()
    const statusOf = async (title: string) => (await app.service.get(`/api/tasks/${idOf(title)}`)).body.status
    expect(await Promise.all(['Stays', 'Stays too', 'Theirs after'].map(statusOf))).toEqual([
      'open',
      'open',
      'in_progress',
    ])
  })

  test('of labels keeps labels that someone else added meanwhile', async ({ app }) => {
    const tasks: { id: string }[] = []
    for (const title of ['Shared one', 'Shared two'])
      tasks.push(await createTask(app, { title, labels: ['first'] }))
    const labels = () =>
      Promise.all(tasks.map(async ({ id }) => (await app.service.get(`/api/tasks/${id}`)).body.labels))
    const page = await app.open('/tasks?sort=createdAt')
    // This page receives no updates.
    await page.route(/\/api\/(stream|activity\?since)/, (route) => route.abort())
    await page.reload()
    await rowOf(page, 'Shared two').waitFor()
    await app.service.patch(`/api/tasks/${tasks[0]?.id}`, { labels: ['first', 'theirs'] })
    await selectAll(page, { first: 'Shared one', last: 'Shared two' })
    const writes = writesOf(page)
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('combobox', { name: 'Label to add' }).fill('mine')
    await page.keyboard.press('Enter')
    await page.getByText('2 tasks: Label mine added.').waitFor()
    expect(await labels()).toEqual([
      ['first', 'theirs', 'mine'],
      ['first', 'mine'],
    ])
    expect(new Set(writes)).toEqual(new Set(['/api/tasks/bulk']))
    await page.keyboard.press('z')
    await page.getByText('Undone: “2 tasks: Label mine added”').waitFor()
    expect(await labels()).toEqual([['first', 'theirs'], ['first']])
  })
})

describe('deleting several tasks', () => {
  test('shows its progress and is undone in one step', async ({ app }) => {
    const { project, listId } = await projectOf(app)
    const tasks = Array.from({ length: 60 }, (_, index) => ({ title: `Row ${index}` }))
    const { body } = await app.service.post('/api/tasks/bulk', { listId, tasks })
    const page = await app.open(`/tasks?projectId=${project}&sort=createdAt`, { isLive: true })
    const release = await delayRequests(page, {
      url: new RegExp(`/api/tasks/${body.data[30].id}$`),
      method: 'DELETE',
    })
    await selectAll(page, { first: 'Row 0', last: 'Row 59' })
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('status').filter({ hasText: 'Deleting tasks: 59 of 60' }).waitFor()
    release()
    await page.getByText('60 tasks: Deleted.').waitFor()
    await page.getByText('Deleting tasks').waitFor({ state: 'detached' })
    expect(await shownIn(app, project)).toBe(0)
    await page.getByRole('alert').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone: “60 tasks: Deleted”').waitFor()
    expect(await shownIn(app, project)).toBe(60)
  })

  test('keeps those selected that it could not delete, and says why', async ({ app }) => {
    for (const title of ['First', 'Locked', 'Last']) await createTask(app, { title })
    const page = await app.open('/tasks?sort=createdAt')
    await rowOf(page, 'Last').waitFor()
    const { data } = (await app.service.get('/api/tasks?q=Locked')).body
    const problem = { status: 409, code: 'conflict', title: 'Conflict', detail: 'The task is locked.' }
    await page.route(`**/api/tasks/${data[0].id}`, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 409, contentType: 'application/problem+json', json: problem })
        : route.continue(),
    )
    await selectAll(page, { first: 'First', last: 'Last' })
    await page.getByText('3 selected').waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').filter({ hasText: 'The task is locked. (“Locked”)' }).waitFor()
    await page.getByText('1 selected').waitFor()
    await expect.poll(() => page.getByLabel('Select Locked').isChecked()).toBe(true)
  })
})

describe('the label of several tasks', () => {
  test('is suggested from the labels in use', async ({ app }) => {
    await createTask(app, { title: 'Has it', labels: ['regression'] })
    const bare = await createTask(app, { title: 'Has none' })
    const page = await app.open('/tasks')
    await page.getByLabel('Select Has none').check({ force: true })
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    // Suggestions are asked for again when the typing pauses; they come anew, and none is selected then.
    const suggested = page.waitForResponse((response) => response.url().includes('q=regr'))
    await page.getByRole('combobox', { name: 'Label to add' }).pressSequentially('regr')
    await suggested
    const option = page.getByRole('option', { name: 'regression' })
    await option.waitFor()
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowDown')
        return option.getAttribute('data-combobox-selected')
      })
      .toBe('true')
    await page.keyboard.press('Enter')
    await page.getByText('Label regression added: Has none').waitFor()
    const { body } = await app.service.get(`/api/tasks/${bare.id}`)
    expect(body.labels).toEqual(['regression'])
  })

  test('is the highlighted one, also if another has its place by then', async ({ app }) => {
    await createTask(app, { title: 'Has it', labels: ['regression'] })
    const bare = await createTask(app, { title: 'Has none' })
    const page = await app.open('/tasks')
    const release = await delayRequests(page, { url: /\/api\/labels\?.*q=reg/ })
    await page.getByLabel('Select Has none').check({ force: true })
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('option', { name: 'regression' }).waitFor()
    await page.getByRole('combobox', { name: 'Label to add' }).fill('reg')
    await page.keyboard.press('ArrowDown')
    await page.locator('[data-combobox-selected]', { hasText: 'regression' }).waitFor()
    await createTask(app, { title: 'Has another', labels: ['reg'] })
    release()
    await page.getByRole('option', { name: 'reg', exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await taskOf(app, bare.id)).labels).toEqual(['regression'])
  })
})

const shownIn = async ({ service }: AppInBrowser, projectId: string) =>
  (await service.get(`/api/tasks?projectId=${projectId}&limit=200`)).body.data.length

async function projectOf({ service }: AppInBrowser) {
  const { body: project } = await service.post('/api/projects', { name: 'Many' })
  const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
  return { project: project.id as string, listId: lists.data[0].id as string }
}

/** Selects from the first row to the last, which is loaded by scrolling to it. */
async function selectAll(page: Page, { first, last }: { first: string; last: string }) {
  await page.getByLabel(`Select ${first}`, { exact: true }).check({ force: true })
  const end = page.getByLabel(`Select ${last}`, { exact: true })
  await expect
    .poll(async () => {
      await page
        .getByRole('region', { name: 'List of tasks' })
        .evaluate((region) => region.scrollTo(0, region.scrollHeight))
      return end.count()
    })
    .toBe(1)
  await end.click({ modifiers: ['Shift'], force: true })
}

/** The paths of the page's PATCH requests. */
function writesOf(page: Page): string[] {
  const writes: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') writes.push(new URL(request.url()).pathname)
  })
  return writes
}

/** As stored in the database. */
const RANKS = ['', 'low', 'medium', 'high']

async function prioritiesOf({ service }: AppInBrowser, projectId: string) {
  const rows: { priority: number; count: number }[] = await service.query(
    'SELECT priority, count(*)::int AS count FROM tasks WHERE project_id = $1 GROUP BY priority',
    [projectId],
  )
  return Object.fromEntries(rows.map(({ priority, count }) => [RANKS[priority], count]))
}
