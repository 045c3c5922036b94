import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import type { Page } from '../tools/playwright.ts'
import {
  type AppInBrowser,
  createTask,
  panelOf,
  rowOf,
  taskOf,
  testWith,
  violationsOn,
} from './support/browser.ts'
import { press } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const highlighted = (page: Page) => page.locator('[data-task][aria-current]')

/** Feedback with equal notes, apart from case and punctuation. */
async function sendEqual({ service }: AppInBrowser, note: string, count: number): Promise<string[]> {
  const send = sender(service.url, WEBHOOK_SECRET)
  const ids: string[] = []
  for (let number = 0; number < count; number++) {
    const { status, body } = await send(
      feedback({
        note: number % 2 === 0 ? note : `${note.toUpperCase()}!`,
        sentiment: number === 0 ? 'meh' : 'frustrated',
        app_version: `2.${number}`,
      }),
    )
    expect(status).toBe(201)
    ids.push(body.taskId)
  }
  return ids
}

describe('the triage page', () => {
  test('is the first one, oldest first, and each key decides about the highlighted row', async ({ app }) => {
    const titles = ['Accepted', 'Done', 'Not planned', 'Snoozed', 'High', 'Last']
    const ids: string[] = []
    for (const title of titles) ids.push((await createTask(app, { title })).id)
    await createTask(app, { title: 'Triaged', triaged: true })
    const page = await app.open('/')
    await rowOf(page, 'Last').waitFor()
    expect(new URL(page.url()).pathname).toBe('/triage')
    await page.getByRole('status').getByText('6 left').waitFor()
    await expect.poll(() => page.locator('[data-task] a').allInnerTexts()).toEqual(titles)
    await page.getByRole('link', { name: 'Triage 6 to triage' }).waitFor()

    await press(page, 'y', 'e', 'n', 'h', 't', 'o', 'm', 'Enter', 'p', 'h', 'Enter')
    await page.getByText('1 left').waitFor()
    await expect.poll(() => highlighted(page).innerText()).toContain('Last')
    const decisions = async () =>
      (await Promise.all(ids.map((id) => taskOf(app, id)))).map((task) =>
        [task.status, task.closedReason, task.priority, task.triaged, task.snoozedUntil !== null].join(),
      )
    await expect
      .poll(decisions)
      .toEqual([
        'open,,medium,true,false',
        'done,,medium,true,false',
        'done,not_planned,medium,true,false',
        'open,,medium,false,true',
        'open,,high,true,false',
        'open,,medium,false,false',
      ])

    // Each is undone by itself, the newest first, and is to be triaged again.
    for (const title of ['High', 'Snoozed', 'Not planned', 'Done', 'Accepted']) {
      await press(page, 'z')
      await rowOf(page, title).waitFor()
    }
    await page.getByText('6 left').waitFor()
    await expect.poll(() => page.locator('[data-task] a').allInnerTexts()).toEqual(titles)
    await expect.poll(decisions).toEqual(ids.map(() => 'open,,medium,false,false'))
  })

  test('shows equal feedback as one row, which keys decide about and merge as a whole', async ({ app }) => {
    const ids = await sendEqual(app, 'Notifications arrive twice', 4)
    const others = await sendEqual(app, 'The map is empty on tablets', 2)
    const page = await app.open('/triage', { isLive: true })
    const row = rowOf(page, 'Notifications arrive twice')
    await row.getByText('×4').waitFor()
    await row.getByRole('img', { name: '3 frustrated, 1 meh' }).waitFor()
    await row.getByTitle('1 with 2.0, 1 with 2.1, 1 with 2.2, 1 with 2.3').waitFor()
    await page.getByText('6 left').waitFor()
    await expect.poll(() => page.locator('[data-task]').count()).toBe(2)

    await page.keyboard.press('m')
    await page.getByText('Merged 3 tasks into “Notifications arrive twice”.').waitFor()
    await page.getByText('3 left').waitFor()
    await page.keyboard.press('z')
    await page.getByText('6 left').waitFor()
    await page.keyboard.press('m')
    await expect.poll(() => taskOf(app, ids[0] ?? '')).toMatchObject({ reports: 4, triaged: false })
    await row.getByText('×4').waitFor()
    await page.getByText('3 left').waitFor()
    // One more arrives, and joins the row.
    await sendEqual(app, 'Notifications arrive twice', 1)
    await row.getByText('×5').waitFor()
    await page.keyboard.press('m')
    await expect.poll(async () => (await taskOf(app, ids[0] ?? '')).reports).toBe(5)

    await page.keyboard.press('y')
    await row.waitFor({ state: 'detached' })
    await page.keyboard.press('n')
    await page.getByText('Nothing left to triage').waitFor()
    for (const id of others)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ closedReason: 'not_planned' })
    await page.keyboard.press('z')
    await rowOf(page, 'The map is empty on tablets').getByText('×2').waitFor()
    for (const id of others)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'open', triaged: false })
  })

  test('names the target of a merge, and what tells candidates apart', async ({ app }) => {
    const [id = '', , last = ''] = await sendEqual(app, 'Notifications arrive twice', 3)
    while (await app.service.service.tasks.indexTexts());
    const page = await app.open(`/triage/${id}`)
    const panel = panelOf(page)
    const similar = panel.getByRole('region', { name: 'Similar tasks' })
    await similar.getByText(/100% similar · frustrated, 2\.1, /).waitFor()
    await similar.getByText(/100% similar · frustrated, 2\.2, /).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Merge into…' }).click()
    await page.getByRole('option', { name: /frustrated, 2\.2/ }).click()
    await page
      .getByText('into “NOTIFICATIONS ARRIVE TWICE')
      .or(page.getByText('into “Notifications'))
      .waitFor()
    await expect.poll(() => taskOf(app, id)).toMatchObject({ mergedInto: last })
    await page.goto(`${app.service.url}/triage/${id}`)
    await panel
      .getByRole('region', { name: 'Activity' })
      .getByRole('link', { name: 'Notifications' })
      .waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/triage\//)
  })

  test('opens the next task by itself, and closes with the last', async ({ app }) => {
    for (const title of ['First', 'Second', 'Third']) await createTask(app, { title })
    const page = await app.open('/triage')
    await rowOf(page, 'Third').waitFor()
    await page.keyboard.press('Enter')
    const title = (name: string) => panelOf(page).getByText(name, { exact: true })
    await title('First').waitFor()
    await page.keyboard.press('e')
    await title('Second').waitFor()
    // The same with a button, as on a phone.
    await panelOf(page).getByRole('button', { name: 'Accept' }).click()
    await title('Third').waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/triage\/./)
    await page.keyboard.press('y')
    await page.getByText('Nothing left to triage').waitFor()
    await panelOf(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/triage')
  })

  test('follows what others decide, and leaves the open task to its reader', async ({ app }) => {
    const { service } = app
    const [first, second] = [
      await createTask(app, { title: 'First' }),
      await createTask(app, { title: 'Second' }),
    ]
    const page = await app.open('/triage', { isLive: true })
    await rowOf(page, 'Second').waitFor()
    await service.patch(`/api/tasks/${second.id}`, { priority: 'high' })
    await rowOf(page, 'Second').waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('First').waitFor()
    await service.patch(`/api/tasks/${first.id}`, { status: 'done' })
    await page.getByText('Nothing left to triage').waitFor()
    await panelOf(page).getByText('First').waitFor()
    await service.patch(`/api/tasks/${first.id}`, { status: 'open', triaged: false })
    await rowOf(page, 'First').waitFor()
  })

  test('accepts all that a filter has, and says what to do when none is left', async ({ app }) => {
    const { service } = app
    const { inbox, id: projectId } = await service.given.project({ name: 'Mobile' })
    for (let number = 0; number < 3; number++) {
      await createTask(app, { title: `Web ${number}` })
      await createTask(app, { title: `Mobile ${number}`, listId: inbox.id })
    }
    const page = await app.open('/triage')
    await page.getByText('6 left').waitFor()
    await page.getByRole('button', { name: 'Project', exact: true }).click()
    await page.getByRole('menuitemradio', { name: 'Mobile' }).click()
    await page.getByText('3 left').waitFor()
    expect(new URL(page.url()).searchParams.get('projectId')).toBe(projectId)
    await page.getByRole('button', { name: 'Accept all 3' }).click()
    await page.getByText('Nothing left here').waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByText('3 left').waitFor()
    await page.keyboard.press('z')
    await page.getByText('6 left').waitFor()
    expect(await violationsOn(page)).toEqual([])
  })
})

describe('by touch or with a mouse', () => {
  test('an open group is decided about as a whole', async ({ app }) => {
    const merged = await sendEqual(app, 'Notifications arrive twice', 3)
    const high = await sendEqual(app, 'The map is empty on tablets', 2)
    const notPlanned = await sendEqual(app, 'Bring back the old icon', 2)
    const page = await app.open('/triage', PHONE)
    const panel = panelOf(page)
    await rowOf(page, 'Notifications').getByText('×3').waitFor()
    await rowOf(page, 'Notifications').getByRole('link').click()
    await panel.getByText('3 equal tasks in one row').waitFor()
    expect(await violationsOn(page)).toEqual([])
    const cut = `[...document.querySelectorAll('[data-panel] button .mantine-Button-label')].filter((label) =>
      label.scrollWidth > label.clientWidth).map((label) => label.textContent)`
    await expect.poll(() => page.evaluate(cut)).toEqual([])
    await panel.getByRole('button', { name: 'Merge all 3' }).click()
    await expect.poll(() => taskOf(app, merged[0] ?? '')).toMatchObject({ reports: 3, triaged: false })
    await panel.getByText('3 equal tasks').waitFor({ state: 'detached' })
    await panel.getByRole('button', { name: 'Accept' }).click()
    await panel.getByText('2 equal tasks').waitFor()

    await panel.getByRole('combobox', { name: 'Priority' }).click()
    await page.getByRole('option', { name: 'High' }).click()
    for (const id of high)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ priority: 'high', triaged: true })
    await panel.getByText('Bring back', { exact: false }).first().waitFor()
    await panel.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Not planned' }).click()
    for (const id of notPlanned)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ closedReason: 'not_planned' })
    await page.getByText('Nothing left to triage').waitFor()
  })

  test('tasks are snoozed in the panel, and those that are selected accepted', async ({ app }) => {
    const ids: string[] = []
    for (const title of ['Later', 'One', 'Two']) ids.push((await createTask(app, { title })).id)
    const page = await app.open(`/triage/${ids[0]}`)
    await panelOf(page).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Snooze…' }).click()
    await page.getByRole('option', { name: 'Tomorrow' }).click()
    await expect.poll(async () => (await taskOf(app, ids[0] ?? '')).snoozedUntil).not.toBe(null)
    await panelOf(page).getByRole('button', { name: 'Close task' }).click()
    for (const title of ['One', 'Two']) await rowOf(page, title).getByRole('checkbox').click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Accept' }).click()
    await page.getByText('Nothing left to triage').waitFor()
    for (const id of ids.slice(1)) await expect.poll(() => taskOf(app, id)).toMatchObject({ triaged: true })
  })
})
