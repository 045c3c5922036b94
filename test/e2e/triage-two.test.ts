import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import type { Page } from '../tools/playwright.ts'
import {
  type AppInBrowser,
  createTask,
  delayRequests,
  panelOf,
  rowOf,
  taskOf,
  testWith,
} from './support/browser.ts'
import { pressAtOnce } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

const TASKS = 24

/** Notes the highlighted row when a key that decides is pressed, unless there is none. */
const NOTE_HIGHLIGHTED = `
  window.highlighted = []
  addEventListener('keydown', ({ key }) => {
    const row = document.querySelector('[data-task][aria-current]')
    if ('ye'.includes(key) && row) window.highlighted.push(row.dataset.task)
  }, { capture: true })`

/** The page of somebody with a key of this name. */
async function openAs(app: AppInBrowser, name: string): Promise<Page> {
  const key = await app.service.given.key({ name, scopes: ['tasks:read', 'tasks:write'] })
  const page = await app.open('/triage', { key, isLive: true })
  await page.evaluate(NOTE_HIGHLIGHTED)
  await page.getByText(`${TASKS} left`).waitFor()
  await page.route(/\/api\/tasks/, async (route) => {
    await sleep(100)
    await route.continue().catch(() => {})
  })
  return page
}

const highlightedOn = (page: Page) => page.evaluate<string[]>('window.highlighted')

/** The tasks that somebody has changed. */
async function changedBy({ service }: AppInBrowser, name: string): Promise<string[]> {
  const rows = await service.query(
    `select distinct task_id::text as id from activity where actor_name = $1 and task_id is not null`,
    [name],
  )
  return rows.map(({ id }) => id)
}

describe('two people who triage the same list', () => {
  test.for([30, 150])('decide about what each has highlighted, %i ms apart', async (gap, { app, expect }) => {
    const ids: string[] = []
    for (let number = 0; number < TASKS; number++)
      ids.push((await createTask(app, { title: `Task ${number}.` })).id)
    const [accepting, completing] = [await openAs(app, 'Accepts'), await openAs(app, 'Completes')]
    await Promise.all([
      pressAtOnce(accepting, Array<string>(TASKS).fill('y'), gap),
      pressAtOnce(completing, Array<string>(TASKS).fill('e'), gap),
    ])
    for (const page of [accepting, completing]) await page.getByText('Nothing left to triage').waitFor()

    const [accepted, completed] = [await highlightedOn(accepting), await highlightedOn(completing)]
    // Nobody decides twice about a task, and nothing is left out.
    expect(new Set(accepted).size).toBe(accepted.length)
    expect(new Set(completed).size).toBe(completed.length)
    expect(new Set([...accepted, ...completed])).toEqual(new Set(ids))
    // Whoever accepts what is done changes nothing; what was accepted can be completed.
    for (const id of ids)
      await expect
        .poll(() => taskOf(app, id))
        .toMatchObject({ triaged: true, status: completed.includes(id) ? 'done' : 'open' })
    expect(accepted).toEqual(expect.arrayContaining(await changedBy(app, 'Accepts')))
    expect((await changedBy(app, 'Completes')).toSorted()).toEqual(completed.toSorted())
  })
})

describe('a group that grows while it is merged', () => {
  test.for(['the key', 'the button'])(
    'keeps what comes, and shows it, with %s',
    async (way, { app, expect }) => {
      const send = sender(app.service.url, WEBHOOK_SECRET)
      const report = async () => (await send(feedback({ note: 'Notifications arrive twice' }))).body.taskId
      const ids: string[] = []
      for (let number = 0; number < 14; number++) ids.push(await report())
      const page = await app.open(way === 'the key' ? '/triage' : `/triage/${ids[0]}`, { isLive: true })
      const row = rowOf(page, 'Notifications').first()
      await row.getByText('×14').waitFor()
      const release = await delayRequests(page, { url: /\/merge$/, method: 'POST' })
      if (way === 'the key') await pressAtOnce(page, ['m'])
      else await panelOf(page).getByRole('button', { name: 'Merge all 14' }).click()
      await page.getByText('1 left').waitFor()
      const newcomer = await report()
      await page.getByText('2 left').waitFor()
      release()

      await page.getByText('Merged 13 tasks into “Notifications arrive twice”.').waitFor()
      await expect.poll(() => taskOf(app, ids[0] ?? '')).toMatchObject({ reports: 14, triaged: false })
      expect(await taskOf(app, newcomer)).toMatchObject({ mergedInto: null, status: 'open', triaged: false })
      await row.getByText('×15').waitFor()
      await page.getByText('2 left').waitFor()
      await page.evaluate('document.activeElement.blur()')
      await pressAtOnce(page, ['m'])
      await page.getByText('Merged “Notifications arrive twice” into').waitFor()
      await expect.poll(() => taskOf(app, newcomer)).toMatchObject({ mergedInto: ids[0] })
      await page.getByText('1 left').waitFor()
    },
  )
})
