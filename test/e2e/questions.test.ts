import { describe, expect } from 'vitest'
import { CLIENTS, callTool } from '../support/mcp-clients.ts'
import {
  type AppInBrowser,
  createTask,
  expectNone,
  panelOf,
  rowOf,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'

/** A task, and an assistant that works over MCP. */
async function given({ service }: AppInBrowser, title: string) {
  const task = await createTask({ service } as AppInBrowser, { title })
  const key = await service.given.key({ name: 'claude', scopes: ['tasks:read', 'tasks:write'] })
  const client = await CLIENTS['v2 client, 2026-07-28'](service.url, { 'x-api-key': key })
  const call = (name: string, args?: Record<string, unknown>) => callTool(client, name, args)
  const ask = (body = 'Should **drafts** be exported, too?') =>
    call('add_comment', { id: task.id, body, needsAnswer: true })
  return { task, call, ask }
}

const questionsIn = (page: Parameters<typeof panelOf>[0]) =>
  page.getByRole('navigation', { name: 'Tasks' }).getByRole('link', { name: /^\d+ questions?$/ })

describe('a question of an assistant', () => {
  test('is seen live, answered in the panel, and the task is handed out again', async ({ app }) => {
    const { task, call, ask } = await given(app, 'Export the list')
    const page = await app.open('/tasks', { isLive: true })
    await rowOf(page, 'Export the list').waitFor()
    await expectNone(page, questionsIn(page))
    expect((await call('claim_task')).data.id).toBe(task.id)
    await rowOf(page, 'Export the list').getByTitle('Claimed by claude').waitFor()
    await ask()
    expect((await call('claim_task')).data.claim).toBeNull()

    await rowOf(page, 'Export the list').getByRole('img', { name: 'Needs an answer' }).waitFor()
    await expect.poll(() => questionsIn(page).textContent()).toBe('1 question')
    await questionsIn(page).press('Enter')
    await page.getByRole('heading', { name: 'Questions' }).waitFor()
    await page.getByRole('button', { name: 'Needs an answer: Yes' }).waitFor()
    await expect.poll(() => questionsIn(page).getAttribute('aria-current')).toBe('page')
    await rowOf(page, 'Export the list').getByRole('link').press('Enter')
    const question = panelOf(page).getByRole('region', { name: 'Question' })
    await question.getByText(/claude asked just now, answer below/).waitFor()
    await expectNone(page, question.getByText('drafts'))
    await panelOf(page).getByText('asked a question').waitFor()
    expect(await violationsOn(page)).toEqual([])

    await page.keyboard.press('m')
    await page.keyboard.type('Yes, as CSV')
    await page.keyboard.press('Control+Enter')

    await question.waitFor({ state: 'detached' })
    await panelOf(page).getByText('answered the question').waitFor()
    await questionsIn(page).waitFor({ state: 'detached' })
    expect((await call('claim_task')).data).toMatchObject({ id: task.id, claim: { number: 2 } })
    await panelOf(page).getByText('Claimed by claude').waitFor()
  })

  test('is ended without an answer, which can be undone, and so can completing the task', async ({ app }) => {
    const { task, call, ask } = await given(app, 'Export the list')
    await ask()
    await call('add_comment', { id: task.id, body: 'I looked at the code again.' })
    const { question: asked } = await taskOf(app, task.id)
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    const question = panelOf(page).getByRole('region', { name: 'Question' })

    await question.locator('strong', { hasText: 'drafts' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await question.getByRole('button', { name: 'Dismiss' }).press('Enter')
    await question.waitFor({ state: 'detached' })
    await page.getByText('Question ended').waitFor()
    await expect.poll(async () => (await taskOf(app, task.id)).isReady).toBe(true)
    await page.keyboard.press('z')
    await question.waitFor()
    expect(await taskOf(app, task.id)).toMatchObject({ question: asked, isReady: false })

    await rowOf(page, 'Export the list').getByRole('button', { name: 'Mark done' }).click()
    await question.waitFor({ state: 'detached' })
    await expect.poll(async () => (await taskOf(app, task.id)).status).toBe('done')
    await page.keyboard.press('z')
    await question.waitFor()
    expect(await taskOf(app, task.id)).toMatchObject({ question: asked, status: 'open', isReady: false })
  })

  test('is only shown to a key that may not write', async ({ app }) => {
    const { task, ask } = await given(app, 'Export the list')
    await ask()
    const reader = await app.service.given.key({ scopes: ['tasks:read'] })
    const page = await app.open(`/tasks/${task.id}`, { key: reader })
    const question = panelOf(page).getByRole('region', { name: 'Question' })
    await question.getByText(/claude asked/).waitFor()
    expect(await question.textContent()).not.toContain('answer below')
    await expectNone(page, question.getByRole('button'))
  })

  test('is found by a filter', async ({ app }) => {
    const { ask } = await given(app, 'Export the list')
    await createTask(app, { title: 'Nothing to ask' })
    await ask()
    const page = await app.open('/tasks?needsAnswer=false')
    await rowOf(page, 'Nothing to ask').waitFor()
    await expectNone(page, rowOf(page, 'Export the list'))
    await page.getByRole('button', { name: 'Needs an answer: No' }).click()
    await page.getByRole('radiogroup', { name: 'Needs an answer' }).getByText('Yes').click()
    await rowOf(page, 'Export the list').waitFor()
    await expectNone(page, rowOf(page, 'Nothing to ask'))
  })
})
