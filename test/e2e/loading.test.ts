import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { createTask, panelOf, rowOf, testTogether as test } from './support/browser.ts'

/** Requests that get no answer until they are asked again. */
async function hold(page: Page, url: RegExp): Promise<() => void> {
  let isHeld = true
  await page.route(url, async (route) => {
    if (isHeld) await new Promise(() => {})
    else await route.continue()
  })
  return () => {
    isHeld = false
  }
}

const tops = (page: Page) =>
  page
    .getByRole('status', { name: 'Loading tasks' })
    .evaluate((rows) => [...rows.children].map((row) => row.getBoundingClientRect().top))

const SIZES = [
  { name: 'a wide screen', viewport: { width: 1280, height: 800 } },
  { name: 'a phone', viewport: { width: 390, height: 780 } },
]

describe.for(SIZES)('a list that loads for long, on $name', ({ viewport }) => {
  test('keeps its skeleton, where the rows will be, and says beneath it what it waits for', async ({
    app,
  }) => {
    await createTask(app, { title: 'Late in coming' })
    const page = await app.open('/settings/sessions', { viewport })
    const release = await hold(page, /\/api\/tasks\?/)
    await page.evaluate("history.pushState(null, '', '/triage'); dispatchEvent(new Event('popstate'))")
    await page.getByRole('status', { name: 'Loading tasks' }).waitFor()
    const before = await tops(page)

    await page.getByText('Inlet has not responded yet').waitFor()
    expect(await tops(page)).toEqual(before)
    const retry = page.getByRole('button', { name: 'Retry now' })
    expect((await retry.boundingBox())?.y).toBeLessThan(viewport.height - 30)
    release()
    await retry.click()
    const row = await rowOf(page, 'Late in coming').first().boundingBox()
    expect(row?.y).toBe(before[0])
    expect(row?.height).toBe((before[1] ?? 0) - (before[0] ?? 0))
  })
})

test('a list says why it waits', async ({ app }) => {
  const page = await app.open('/settings/sessions')
  await page.route(/\/api\/tasks\?/, (route) =>
    route.fulfill({ status: 503, json: { code: 'busy', detail: 'Inlet is busy.' } }),
  )
  await page.getByRole('link', { name: /All tasks/ }).click()
  await page.getByText('Inlet is busy. Retrying automatically.').waitFor()
})

test('a task that loads for long does so, too', async ({ app }) => {
  const { id } = await createTask(app, { title: 'Opened slowly' })
  const page = await app.open('/settings/sessions')
  const release = await hold(page, new RegExp(`/api/tasks/${id}$`))
  await page.evaluate(`history.pushState(null, '', '/tasks/${id}'); dispatchEvent(new Event('popstate'))`)
  await panelOf(page).getByText('Still loading the task').waitFor()
  await panelOf(page).getByRole('status', { name: 'Loading task' }).waitFor()
  release()
  await panelOf(page).getByRole('button', { name: 'Retry now' }).click()
  await panelOf(page).getByRole('button', { name: 'Opened slowly' }).waitFor()
})
