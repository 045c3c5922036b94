import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, panelOf, rowOf, testTogether } from './support/browser.ts'
import { openAndClosePalette, pressAtOnce } from './support/keys.ts'

const CASES = [0, 400].flatMap((delay) =>
  [0, 30, 60, 150, 300].flatMap((gap) => ['open', 'closed'].map((panel) => ({ delay, gap, panel }))),
)

/** The key that decides about each row, and those that follow it. The second row is merged and accepted. */
const DECISIONS = [['e'], ['m', 'y'], ['n'], ['h', '2'], ['p', '1'], ['a', 'a', 'd', 'Enter'], ['e'], ['y']]
const MERGED = 1
/** More than are decided about, so that a key that acts too far is seen. */
const ROWS = DECISIONS.length + 2

/** Notes the highlighted row when a key that decides is pressed outside of an input. */
const NOTE_HIGHLIGHTED = `
  window.highlighted = []
  addEventListener('keydown', ({ key, target }) => {
    if (!'emnhpay'.includes(key) || target.closest('input')) return
    const rows = [...document.querySelectorAll('[data-task][aria-current]')]
    window.highlighted.push(key + ' ' + rows.map((row) => row.dataset.task).join())
  }, { capture: true })`

/** One page for all tests. */
const test = testTogether.extend('page', { scope: 'file' }, async ({ app }) => {
  const page = await app.open('/sign-in')
  await page.addInitScript(NOTE_HIGHLIGHTED)
  return page
})

/** A project whose tasks are shown in this order; two tasks of the second row are equal. */
async function givenTasks({ given }: AppInBrowser['service']) {
  const { id, inbox } = await given.project()
  await given.task(inbox, { title: 'Has names', assignees: ['ada'], triaged: true })
  const ids: string[] = []
  for (let row = 0; row < ROWS; row++) {
    const values = { title: `Row ${row}.`, triaged: false, createdAt: new Date(Date.UTC(2026, 0, 1, 0, row)) }
    const equal = row === MERGED ? { source: 'analytics' as const, noteKey: 'equal' } : {}
    ids.push((await given.task(inbox, { ...values, ...equal })).id)
    if (row === MERGED) await given.task(inbox, { ...values, ...equal, createdAt: new Date() })
  }
  return { projectId: id, ids }
}

async function openTriage(page: Page, { url, panel }: { url: string; panel: string }) {
  await page.goto(url)
  await rowOf(page, 'Row 1.').getByText('×2').waitFor()
  await openAndClosePalette(page)
  if (panel === 'closed') return
  await page.keyboard.press('Enter')
  await panelOf(page).getByText('Row 0.').waitFor()
}

/** Each decision as the key that makes it, and the task, sorted. */
async function decisionsIn({ service }: AppInBrowser, projectId: string): Promise<string[]> {
  const tasks = await service.query(
    `select id, merged_into, version,
            case when closed_reason = 'not_planned' then 'n' when status = 'done' then 'e'
                 when snoozed_until > now() then 'h' when priority = 3 then 'p' when assignees <> '{}' then 'a'
                 when triaged then 'y' end as key
     from tasks where project_id = $1 and title <> 'Has names'`,
    [projectId],
  )
  return tasks
    .map(({ id, key, merged_into: target, version }) =>
      target ? `m ${target}` : `${key} ${id}${version > 2 ? ` in ${version} versions` : ''}`,
    )
    .toSorted()
}

describe('in Triage, a key acts on the row that is highlighted when it is pressed', () => {
  test.for(CASES)(
    '$gap ms apart, $delay ms to the service, panel $panel',
    async ({ gap, delay, panel }, { app, page, expect }) => {
      const { projectId, ids } = await givenTasks(app.service)
      await openTriage(page, { url: `${app.service.url}/triage?projectId=${projectId}`, panel })
      await page.route(/\/api\//, async (route) => {
        await sleep(delay)
        await route.continue().catch(() => {})
      })
      await pressAtOnce(page, DECISIONS.flat(), gap)
      await page.getByText('2 left').waitFor()

      const expected = DECISIONS.flatMap((keys, row) =>
        (row === MERGED ? keys : keys.slice(0, 1)).map((key) => `${key} ${ids[row]}`),
      )
      const undecided = ids.slice(DECISIONS.length).map((id) => `null ${id}`)
      await expect.poll(() => decisionsIn(app, projectId)).toEqual([...expected, ...undecided].toSorted())
      expect(await page.evaluate('window.highlighted')).toEqual(expected)
      await page.unrouteAll({ behavior: 'wait' })
    },
  )
})
