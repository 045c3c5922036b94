import { describe, expect } from 'vitest'
import {
  type AppInBrowser,
  createTask,
  delayRequests,
  expectNone,
  forgetActivity,
  panelOf,
  rowOf,
  taskOf,
  test,
} from './support/browser.ts'

const newProject = async ({ service }: AppInBrowser, name: string) => {
  const { body: project } = await service.post('/api/projects', { name })
  const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
  return { id: project.id as string, listId: lists.data[0].id as string }
}

describe('a task', () => {
  test('is as the service has it when the first of two responses is late', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Pressed twice' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    await panelOf(page).getByRole('button', { name: 'Mark done' }).waitFor()
    const respond = await delayRequests(page, { url: `**/api/tasks/${id}`, method: 'PATCH' })
    await page.keyboard.press('e')
    await panelOf(page).getByRole('button', { name: 'Reopen' }).waitFor()
    await page.keyboard.press('e')
    await panelOf(page).getByRole('button', { name: 'Mark done' }).waitFor()
    respond()
    await page.getByText('Reopened: Pressed twice').waitFor()
    await panelOf(page).getByRole('button', { name: 'Mark done' }).waitFor()
    expect((await taskOf(app, id)).status).toBe('open')
  })

  test('keeps what others changed when a change of the user fails, and the preview until then', async ({
    app,
  }) => {
    const { id } = await createTask(app, { title: 'The old title' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    await panelOf(page).getByRole('button', { name: 'Mark done' }).waitFor()
    const { promise: failing, resolve: fail } = Promise.withResolvers<void>()
    await page.route(`**/api/tasks/${id}`, async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      await failing
      await route.abort()
    })
    await page.keyboard.press('e')
    await panelOf(page).getByRole('button', { name: 'Reopen' }).waitFor()
    await app.service.patch(`/api/tasks/${id}`, { title: 'The new title' })
    await rowOf(page, 'The new title')
      .getByRole('button', { name: /^Reopen/ })
      .waitFor()
    await panelOf(page).getByText('The new title').waitFor()
    await panelOf(page).getByRole('button', { name: 'Reopen' }).waitFor()
    fail()
    await page.getByText('Not saved').waitFor()
    await panelOf(page).getByRole('button', { name: 'Mark done' }).waitFor()
    await panelOf(page).getByText('The new title').waitFor()
    await rowOf(page, 'The new title')
      .getByRole('button', { name: /^Mark done/ })
      .waitFor()
  })

  test('gets two labels in a row without a conflict of the user with himself', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Labelled' })
    const page = await app.open(`/tasks/${id}`, { isLive: true })
    const labels = panelOf(page).getByRole('combobox', { name: 'Labels' })
    await labels.waitFor()
    const send = await delayRequests(page, { url: `**/api/tasks/${id}`, method: 'PATCH' })
    for (const label of ['one', 'two']) {
      await labels.fill(label)
      await labels.press('Enter')
    }
    send()
    await expect.poll(async () => (await taskOf(app, id)).labels).toEqual(['one', 'two'])
    await expectNone(page, page.getByText('has changed', { exact: false }))
  })

  test('is not saved with half a word while an input method composes it', async ({ app }) => {
    const { id } = await createTask(app, { title: 'Nihongo' })
    const page = await app.open(`/tasks/${id}`)
    await panelOf(page).getByRole('button', { name: 'Nihongo' }).click()
    const title = panelOf(page).getByRole('textbox', { name: 'Title' })
    await title.fill('にほn')
    await title.dispatchEvent('keydown', { key: 'Enter', isComposing: true })
    await title.fill('日本語')
    await title.press('Enter')
    await panelOf(page).getByRole('button', { name: '日本語' }).waitFor()
    expect(await taskOf(app, id)).toMatchObject({ title: '日本語', version: 2 })
  })
})

describe('a list', () => {
  test('follows claims, blockers, and archived projects elsewhere', async ({ app }) => {
    const { id: projectId, listId } = await newProject(app, 'Elsewhere')
    const [blocker, waiting] = [
      await createTask(app, { title: 'Blocker', listId }),
      { title: 'Waiting', listId },
    ]
    await createTask(app, { ...waiting, blockedBy: [blocker.id] })
    const claimed = await createTask(app, { title: 'Claimed soon', listId })
    const inProgress = await app.open('/tasks?status=["in_progress"]', { isLive: true })
    const context = inProgress.context()
    const [unclaimed, ready, all] = [
      await app.open(`/tasks?claimed=false&projectId=${projectId}`, { context }),
      await app.open('/tasks?isReady=true', { context }),
      await app.open('/tasks?status=["open"]', { context }),
    ]
    await unclaimed.getByRole('link', { name: 'Claimed soon' }).waitFor()
    await ready.getByRole('link', { name: 'Blocker' }).waitFor()
    await all.getByRole('link', { name: 'Waiting' }).waitFor()

    await app.service.post(`/api/tasks/${claimed.id}/claim`)
    await inProgress.getByRole('link', { name: 'Claimed soon' }).waitFor()
    for (const page of [unclaimed, ready, all])
      await page.getByRole('link', { name: 'Claimed soon' }).waitFor({ state: 'detached' })

    await app.service.patch(`/api/tasks/${blocker.id}`, { status: 'done' })
    await ready.getByRole('link', { name: 'Waiting' }).waitFor()

    await app.service.post(`/api/projects/${projectId}/archive`)
    for (const page of [inProgress, ready, all])
      for (const title of ['Claimed soon', 'Waiting'])
        await page.getByRole('link', { name: title }).waitFor({ state: 'detached' })
    await unclaimed.getByRole('link', { name: 'Waiting' }).waitFor()
  })
})

test('64 projects: a picker asks for all lists in one request, and a task for its own', async ({ app }) => {
  for (let number = 1; number < 64; number++)
    await app.service.post('/api/projects', { name: `Project ${number}` })
  const { id } = await createTask(app, { title: 'Among many' })
  await forgetActivity(app)
  const page = await app.open('/tasks', { isLive: true })
  const asked: string[] = []
  page.on('request', (request) => {
    if (/\/lists(\?|$)/.test(request.url())) asked.push(new URL(request.url()).pathname)
  })
  await page.getByRole('link', { name: 'Among many' }).click()
  const list = panelOf(page).getByRole('combobox', { name: 'List' })
  await expect.poll(() => list.inputValue()).toBe('Inbox')
  expect(asked).toEqual([`/api/projects/${(await taskOf(app, id)).projectId}/lists`])
  await list.click()
  await page.getByRole('group', { name: 'Project 63' }).waitFor()
  expect(asked.slice(1)).toEqual(['/api/lists'])
  for (const title of ['First', 'Second', 'Third']) {
    await createTask(app, { title: `${title} change` })
    await page.getByRole('link', { name: `${title} change` }).waitFor()
  }
  // Each kind at most once in five seconds.
  expect(asked.length).toBeLessThan(10)
})

test('the priority of an instruction and its switch are not in conflict', async ({ app }) => {
  await app.service.post('/api/rules', { content: 'Be brief.', priority: 1 })
  const page = await app.open('/settings/instructions')
  const responses: number[] = []
  page.on('response', (response) => {
    if (response.request().method() === 'PATCH') responses.push(response.status())
  })
  const send = await delayRequests(page, { url: '**/api/rules/*', method: 'PATCH' })
  await page.getByRole('textbox', { name: /^Priority of/ }).fill('7')
  await page.getByRole('switch', { name: /Be brief/ }).click({ force: true })
  send()
  await expect.poll(() => responses).toEqual([200, 200])
  const { body } = await app.service.get('/api/rules?includeInactive=true')
  expect(body.data).toMatchObject([{ priority: 7, isActive: false }])
})

describe('another key in the dialog over an ended session', () => {
  test('finds nothing of the one before', async ({ app }) => {
    const [own, other] = [await newProject(app, 'Of the first'), await newProject(app, 'Of the second')]
    await createTask(app, { title: 'Secret of the first', listId: own.listId })
    await createTask(app, { title: 'Task of the second', listId: other.listId })
    const keyOf = (name: string, projectId: string) =>
      app.service.given.key({ name, scopes: ['tasks:read', 'tasks:write'], projectId })
    const [first, second] = [await keyOf('first', own.id), await keyOf('second', other.id)]
    const page = await app.open('/tasks', { key: first, isLive: true })
    await page.getByRole('link', { name: 'Secret of the first' }).waitFor()
    await page.getByRole('button', { name: 'New task' }).click()
    const dialog = page.getByRole('dialog', { name: 'New task' })
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Draft of the first')
    await page.keyboard.press('Escape')
    await app.service.query('DELETE FROM sessions')
    const question = page.getByRole('dialog', { name: 'Your session has ended' })
    await question.getByLabel('API key').fill(second)
    const respond = await delayRequests(page, { url: /\/api\/tasks\?/ })
    const requested = page.waitForRequest(/\/api\/tasks\?/)
    await question.getByRole('button', { name: 'Sign in' }).click()
    await question.waitFor({ state: 'detached' })
    await requested
    await expectNone(page, page.getByText('Secret of the first'))
    respond()
    await page.getByRole('link', { name: 'Task of the second' }).waitFor()
    await expectNone(page, page.getByText('Secret of the first'))
    await expectNone(page, page.getByText('Of the first'))
    await page.getByRole('link', { name: 'All tasks' }).click()
    await page.getByRole('button', { name: 'New task' }).click()
    await expect.poll(() => dialog.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('')
  })
})
