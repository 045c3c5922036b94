import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, delayRequests, panelOf, rowOf, testTogether as test } from './support/browser.ts'
import { openAndClosePalette, pressAtOnce } from './support/keys.ts'

const GAPS_MS = [0, 30, 60, 150, 300]
const DELAYS_MS = [0, 400]
const TASKS = 28
const PEOPLE = ['ada', 'bob', 'eve']

const CASES = DELAYS_MS.flatMap((delay) =>
  GAPS_MS.flatMap((gap) => ['open', 'closed'].map((panel) => ({ delay, gap, panel }))),
)

/** Notes the highlighted row when one of these keys is pressed outside of an input. */
const NOTE_HIGHLIGHTED = `
  window.highlighted = []
  addEventListener('keydown', ({ key, target }) => {
    if (!['e', 'a'].includes(key) || target.closest('input')) return
    window.highlighted.push([...document.querySelectorAll('[data-task][aria-current]')].map((row) => row.dataset.task).join())
  }, { capture: true })`

/** A page with a project of its own, with the first task focused; the last one has the names of all people. */
async function openProject(app: AppInBrowser, { delay = 0, panel = 'closed', isWarm = true } = {}) {
  const { given, url } = app.service
  const project = await given.project()
  for (let number = 1; number <= TASKS; number++)
    await given.task(project.inbox, {
      title: `Task ${number}.`,
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 100 - number)),
      assignees: number === TASKS ? PEOPLE : [],
    })
  const page = await app.open('/sign-in')
  await page.addInitScript(NOTE_HIGHLIGHTED)
  await page.goto(`${url}/tasks?projectId=${project.id}`)
  await rowOf(page, 'Task 1.').waitFor()
  if (isWarm) await openAndClosePalette(page)
  await page.keyboard.press('j')
  if (panel === 'open') {
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('Task 1.').waitFor()
  }
  if (delay > 0)
    await page.route(/\/api\//, async (route) => {
      await sleep(delay)
      await route.continue().catch(() => {})
    })
  return { page, project, writes: writesOf(page) }
}

/** Counts the writes that the page has sent, and those that have a response. */
function writesOf(page: Page) {
  const count = { sent: 0, done: 0 }
  page.on('request', (request) => {
    if (request.method() === 'PATCH') count.sent++
  })
  page.on('requestfinished', (request) => {
    if (request.method() === 'PATCH') count.done++
  })
  return count
}

const highlightedOn = (page: Page) => page.evaluate<string[]>('window.highlighted')

interface Row {
  id: string
  status: string
  version: number
  priority: string
  assignees: string[]
}

/** The tasks of a project from the first to the last, as the database has them. */
async function tasksOf({ service }: AppInBrowser, projectId: string): Promise<Row[]> {
  const rows = await service.query(
    'SELECT id, status, version, priority, assignees FROM tasks WHERE project_id = $1 ORDER BY created_at DESC',
    [projectId],
  )
  return rows as unknown as Row[]
}

describe.concurrent('a key acts on the row that is highlighted when it is pressed', () => {
  test.for(CASES)(
    '$gap ms apart, $delay ms to the service, panel $panel',
    async ({ gap, ...given }, { app, expect }) => {
      const { page, project, writes } = await openProject(app, given)
      const names = Array.from({ length: 10 }, (_, index) => PEOPLE[index % 3] ?? '')
      await pressAtOnce(page, Array.from({ length: 15 }, () => ['e', 'j']).flat(), gap)
      await pressAtOnce(
        page,
        names.flatMap((name) => ['a', ...name, 'Enter', 'j']),
        gap,
      )
      await expect.poll(() => writes).toEqual({ sent: 25, done: 25 })

      const tasks = await tasksOf(app, project.id)
      const written = tasks.filter(({ version }) => version > 1)
      expect(written.map(({ id }) => id)).toEqual(tasks.slice(0, 25).map(({ id }) => id))
      expect(written.map(({ id }) => id)).toEqual(await highlightedOn(page))
      expect(written.map(({ version }) => version)).toEqual(written.map(() => 2))
      expect(written.slice(0, 15).map(({ status }) => status)).toEqual(Array(15).fill('done'))
      expect(written.slice(15).map(({ assignees }) => assignees)).toEqual(names.map((name) => [name]))
      await page.close()
    },
  )
})

describe.concurrent('a key that comes too early', () => {
  const changed = async (app: AppInBrowser, projectId: string) =>
    (await tasksOf(app, projectId)).slice(0, 4).map((task) => {
      const values = [task.status, task.assignees.join(), `version ${task.version}`]
      return values.filter((value) => !['open', '', 'version 1'].includes(value)).join(' ')
    })

  test('waits until a picker is loaded, and until it is closed', async ({ app, expect }) => {
    const { page, project, writes } = await openProject(app, { isWarm: false })
    const release = await delayRequests(page, { url: /assets\/palette-.*\.js/ })
    await page.reload()
    await rowOf(page, 'Task 1.').waitFor()
    await pressAtOnce(page, [
      'j',
      'a',
      ...'adx',
      'Backspace',
      'a',
      'Enter',
      'j',
      'a',
      ...'bob',
      'Enter',
      'j',
      'e',
    ])
    expect(writes).toEqual({ sent: 0, done: 0 })
    release()
    await expect.poll(() => writes).toEqual({ sent: 3, done: 3 })
    expect(await changed(app, project.id)).toEqual(['ada version 2', 'bob version 2', 'done version 2', ''])
  })

  test('waits for a choice that is not loaded, which Escape gives up', async ({ app, expect }) => {
    const { page, project, writes } = await openProject(app)
    await pressAtOnce(page, [
      'Control+k',
      ...'mark',
      'Enter',
      'j',
      'Control+k',
      ...'prio',
      'Enter',
      'h',
      'Enter',
      'j',
      'e',
    ])
    await expect.poll(() => writes).toEqual({ sent: 3, done: 3 })
    expect(await changed(app, project.id)).toEqual(['done version 2', 'version 2', 'done version 2', ''])

    await delayRequests(page, { url: /q=nothing/ })
    await pressAtOnce(page, ['j', 'Control+k', ...'nothing', 'Enter', 'e', 'Escape'])
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await pressAtOnce(page, ['e'])
    await expect.poll(() => writes).toEqual({ sent: 4, done: 4 })
    expect((await changed(app, project.id))[3]).toBe('done version 2')
  })

  test('follows the panel while it opens and closes', async ({ app, expect }) => {
    const { page, project, writes } = await openProject(app, { delay: 400 })
    await pressAtOnce(page, ['Enter', 'j', 'e', 'Escape', 'j', 'e'])
    await expect.poll(() => writes).toEqual({ sent: 2, done: 2 })
    expect(await changed(app, project.id)).toEqual(['', 'done version 2', 'done version 2', ''])
    await panelOf(page).waitFor({ state: 'detached' })
  })

  test('acts once while it is held down', async ({ app, expect }) => {
    const { page, project, writes } = await openProject(app)
    for (let count = 0; count < 4; count++) await page.keyboard.down('e')
    await page.keyboard.up('e')
    await pressAtOnce(page, ['j', 'e'])
    await expect.poll(() => writes).toEqual({ sent: 2, done: 2 })
    expect(await changed(app, project.id)).toEqual(['done version 2', 'done version 2', '', ''])
  })
})
