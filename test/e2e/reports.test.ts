import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import {
  type AppInBrowser,
  createTask,
  expectNone,
  panelOf,
  rowOf,
  taskOf,
  testWith,
  violationsOn,
} from './support/browser.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

const NOTE = 'The export of the dashboard does nothing'

/** Feedback with similar notes, oldest first, as the search index knows it. */
async function givenFeedback({ service }: AppInBrowser, count: number): Promise<string[]> {
  const send = sender(service.url, WEBHOOK_SECRET)
  const ids: string[] = []
  for (let number = 1; number <= count; number++) {
    const response = await send(
      feedback({
        note: `${NOTE}, attempt ${number}${number === 2 ? '\nSeen on a tablet.' : ''}`,
        app_version: number === 1 ? '2.3.0' : '2.3.1',
      }),
    )
    expect(response.status).toBe(201)
    ids.push(response.body.taskId)
  }
  while (await service.service.tasks.indexTexts());
  return ids
}

describe('feedback that resembles other feedback', () => {
  test('says so in its row, is merged with one key, and can be unmerged', async ({ app }) => {
    const [first = '', ...others] = await givenFeedback(app, 4)
    const page = await app.open('/tasks', { isLive: true })
    const row = rowOf(page, `${NOTE}, attempt 1`)
    await row.hover()
    await row.getByText('3 similar').waitFor()
    // It stays when the pointer leaves.
    await page.mouse.move(0, 0)
    await row.getByText('3 similar').waitFor()

    await row.getByRole('link').click()
    const panel = panelOf(page)
    const similar = panel.getByRole('region', { name: 'Similar tasks' })
    await similar.getByRole('listitem').nth(2).waitFor()
    for (const left of [2, 1, 0]) {
      await page.keyboard.press('d')
      await expect.poll(() => similar.getByRole('listitem').count()).toBe(left)
    }

    const reports = panel.getByRole('region', { name: 'Reports' })
    await reports.getByRole('heading', { name: '4 reports' }).waitFor()
    await similar.waitFor({ state: 'detached' })
    await reports.getByText('4 frustrated · 3 with 2.3.1, 1 with 2.3.0').waitFor()
    await reports.getByText('Seen on a tablet.').waitFor()
    await row.getByTitle('4 reports').waitFor()
    expect((await taskOf(app, first)).reports).toBe(4)
    const mergedStatus = rowOf(page, `${NOTE}, attempt 3`).getByRole('button', { name: /^Reopen/ })
    await expect.poll(() => mergedStatus.isDisabled()).toBe(true)
    await expect.poll(() => mergedStatus.getAttribute('title')).toContain('Unmerge it')
    expect(await violationsOn(page)).toEqual([])

    await reports.getByRole('button', { name: `Unmerge ${NOTE}, attempt 2` }).click()
    await reports.getByRole('heading', { name: '3 reports' }).waitFor()
    expect(await taskOf(app, others[0] ?? '')).toMatchObject({ status: 'open', mergedInto: null })
    await page.keyboard.press('z')
    await reports.getByRole('heading', { name: '4 reports' }).waitFor()

    await reports.getByRole('link', { name: 'attempt 3' }).click()
    await panel.getByText('Merged into').getByRole('link', { name: 'attempt 1' }).waitFor()
    const status = panel.getByRole('combobox', { name: 'Status' })
    await expect.poll(() => status.isDisabled()).toBe(true)
    await expect.poll(() => status.getAttribute('title')).toContain('Unmerge it')
    const merged = await panel.getByText('Merged into').boundingBox()
    expect(merged?.y).toBeLessThan((await status.boundingBox())?.y ?? 0)
    await panel.getByRole('button', { name: 'Unmerge' }).click()
    await panel.getByRole('button', { name: 'Mark done' }).waitFor()
    await expect.poll(() => status.isEnabled()).toBe(true)
    await expect.poll(async () => (await taskOf(app, first)).reports).toBe(3)
  })

  test('is counted whole, also where only some reports are loaded', async ({ app }) => {
    const { service } = app
    const { inbox } = await service.given.project()
    const feedback = (values: object) =>
      service.given.task(inbox, { title: 'Export fails', source: 'analytics', ...values })
    const properties = { sentiment: 'frustrated', app_version: '2.3.1' }
    const { id } = await feedback({ metadata: { properties }, reportCount: 24 })
    const merged = { mergedInto: id, status: 'done', statusBeforeMerge: 'open', completedAt: new Date() }
    for (let number = 0; number < 24; number++)
      await feedback({
        ...merged,
        metadata: { properties: { ...properties, ...(number === 0 && { sentiment: 'meh' }) } },
      })
    const page = await app.open(`/tasks/${id}`)
    const reports = panelOf(page).getByRole('region', { name: 'Reports' })
    await reports.getByText('24 frustrated, 1 meh · 25 with 2.3.1').waitFor()
    await reports.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => reports.getByRole('listitem').count()).toBe(24)
  })

  test('is not shown where the project does not want it', async ({ app }) => {
    const [first = ''] = await givenFeedback(app, 2)
    const { projectId } = await taskOf(app, first)
    const page = await app.open(`/projects/${projectId}`)
    await page.getByText('Similar feedback is shown, and you decide what to merge.').waitFor()
    await page.getByRole('radiogroup', { name: 'Similar feedback' }).getByText('Off').click()
    await page.getByText('Similar feedback isn’t shown.').waitFor()

    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${app.service.url}/tasks/${first}`)
    await panelOf(page).getByText('sent feedback').waitFor()
    expect((await app.service.get(`/api/projects/${projectId}`)).body.groupFeedback).toBe('off')
    expect(asked.filter((url) => url.split('?')[0]?.endsWith('/similar'))).toEqual([])
  })
})

describe('any task', () => {
  test('shows what its reports say as it is meant', async ({ app }) => {
    const target = await createTask(app, { title: 'The export fails' })
    const report = await createTask(app, { title: 'Nothing happens', description: 'With **every** format' })
    await app.service.post(`/api/tasks/${report.id}/merge`, { into: target.id })
    const page = await app.open(`/tasks/${target.id}`)
    const reports = panelOf(page).getByRole('region', { name: 'Reports' })
    await reports.locator('strong').getByText('every').waitFor()
  })

  test('is merged by the same key while it is open, and then keeps its status', async ({ app }) => {
    await createTask(app, { title: 'The export fails' })
    const task = await createTask(app, { title: 'Nothing happens' })
    const page = await app.open(`/tasks/${task.id}`)
    const panel = panelOf(page)
    await panel.getByRole('heading', { name: 'Nothing happens' }).waitFor()
    await page.keyboard.press('d')
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    await palette.getByRole('combobox', { name: 'Merge into' }).waitFor()
    await page.keyboard.type('export')
    await palette.getByRole('option', { name: 'The export fails' }).waitFor()
    await page.keyboard.press('Enter')
    await panel.getByText('Merged into').getByRole('link', { name: 'The export fails' }).waitFor()

    const patches: string[] = []
    page.on('request', (request) => request.method() === 'PATCH' && patches.push(request.url()))
    await page.keyboard.press('e')
    await page.getByText('This task is merged. Unmerge it to change its status.').waitFor()
    await page.keyboard.press('d')
    await page.getByText('This task is merged. Unmerge it to merge it into another one.').waitFor()
    await page.keyboard.press('Control+k')
    await palette.getByRole('option', { name: 'Set priority…' }).waitFor()
    for (const name of ['Reopen', 'Set status…', 'Merge into…'])
      await expectNone(page, palette.getByRole('option', { name }))
    expect(patches).toEqual([])
  })
})
