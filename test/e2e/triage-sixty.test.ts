import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { TaskListItem } from '../../src/schemas/task.ts'
import { startApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, panelOf, rowOf, testWith } from './support/browser.ts'
import { openAndClosePalette } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET, ENCRYPTION_KEY: 'ab'.repeat(32) } }))

const MAX_PRESSES = 110

/** What is decided about each row, by the key that decides it, and the keys that follow. */
const DECISIONS = {
  done: ['e'],
  notPlanned: ['n'],
  ada: ['a', 'a', 'Enter'],
  bob: ['a', 'b', 'Enter'],
  snoozed: ['h', '2'],
  high: ['p', '1'],
  accepted: ['y'],
}
type Decision = keyof typeof DECISIONS

/** The rows as they are shown, oldest first: each the notes or title, and what is decided about it. */
const ROWS: { title: string; kind: 'feedback' | 'source' | 'issue'; decision: Decision }[] = [
  ...rowsOf('feedback', 6, ['high', 'ada', 'bob', 'high', 'accepted', 'snoozed']),
  ...rowsOf('source', 18, [
    ...Array<Decision>(6).fill('done'),
    ...Array<Decision>(4).fill('notPlanned'),
    'ada',
    'bob',
    'high',
    'high',
    'high',
    'snoozed',
    'accepted',
    'accepted',
  ]),
  ...rowsOf('issue', 18, [
    ...Array<Decision>(6).fill('done'),
    ...Array<Decision>(4).fill('notPlanned'),
    'ada',
    'bob',
    'high',
    'high',
    'high',
    'snoozed',
    'snoozed',
    'accepted',
  ]),
]

function rowsOf(kind: 'feedback' | 'source' | 'issue', count: number, decisions: Decision[]) {
  return Array.from({ length: count }, (_, index) => ({
    title: `The ${kind} number ${index + 1} of the morning`,
    kind,
    decision: decisions[index] ?? ('accepted' as const),
  }))
}

/** What arrived in a night: 24 feedback in six groups, 18 reports of a source, and 18 issues. */
async function givenMorning({ service }: AppInBrowser) {
  const { inbox, id: projectId } = await service.given.project({ name: 'Mobile' })
  await service.given.task(inbox, { title: 'Has names', assignees: ['ada', 'bob'] })
  const routing = { appMatch: 'com.acme.app', targetProjectId: projectId }
  await service.post('/api/webhook-routing', routing)
  const send = sender(service.url, WEBHOOK_SECRET)
  const source = await sourceOf(service, { projectId, template: { title: '{{ payload.title }}' } })
  for (const { title, kind } of ROWS) {
    if (kind === 'feedback')
      for (let number = 0; number < 4; number++)
        await send(
          feedback({ note: title, app_id: 'com.acme.app', app_version: `2.${number}`, sentiment: 'meh' }),
        )
    else if (kind === 'source') await source.send({ title })
    else await service.given.task(inbox, { title, source: 'codehost', triaged: false })
  }
  return projectId
}

/** Notes the title of the highlighted row when a key that decides is pressed outside of an input. */
const NOTE_HIGHLIGHTED = `
  window.highlighted = []
  addEventListener('keydown', ({ key, target }) => {
    if (!'enahpym'.includes(key) || target.closest('input')) return
    const row = document.querySelector('[data-task][aria-current] a')
    window.highlighted.push(key + ' ' + row?.textContent)
  }, { capture: true })`

async function open(app: AppInBrowser, projectId: string): Promise<Page> {
  const page = await app.open('/sign-in')
  await page.addInitScript(NOTE_HIGHLIGHTED)
  await page.goto(`${app.service.url}/triage?projectId=${projectId}`)
  await page.getByText('60 left').waitFor()
  await rowOf(page, ROWS[0]?.title ?? '')
    .getByText('×4')
    .waitFor()
  await openAndClosePalette(page)
  return page
}

describe('a morning', () => {
  test.for([
    { gap: 0, delay: 0, panel: 'closed' },
    { gap: 30, delay: 400, panel: 'closed' },
    { gap: 60, delay: 400, panel: 'open' },
  ])(
    'of 60 items is triaged with 110 keys: $gap ms apart, $delay ms to the service, panel $panel',
    async ({ gap, delay, panel }, { app }) => {
      const projectId = await givenMorning(app)
      const page = await open(app, projectId)
      let presses = 0
      if (panel === 'open') {
        await page.keyboard.press('Enter')
        await panelOf(page)
          .getByText(ROWS[0]?.title ?? '')
          .first()
          .waitFor()
      }
      await page.route(/\/api\//, async (route) => {
        await sleep(delay)
        await route.continue().catch(() => {})
      })
      for (const { kind, decision } of ROWS)
        for (const key of [...(kind === 'feedback' ? ['m'] : []), ...DECISIONS[decision]]) {
          presses++
          await page.keyboard.press(key)
          if (gap > 0) await sleep(gap)
        }
      expect(presses).toBeLessThanOrEqual(MAX_PRESSES)
      await page.getByText('Nothing left').waitFor()

      const expected = ROWS.map(({ title, kind, decision }) => ({
        title,
        reports: kind === 'feedback' ? 4 : 1,
        decision,
      }))
      await expect.poll(() => decisionsIn(app, projectId)).toEqual(expected)
      const pressed = ROWS.flatMap(({ title, kind, decision }) => [
        ...(kind === 'feedback' ? [`m ${title}`] : []),
        `${DECISIONS[decision][0]} ${title}`,
      ])
      expect(await page.evaluate('window.highlighted')).toEqual(pressed)
    },
  )
})

/** What the service has of each row in the end, oldest first. */
async function decisionsIn({ service }: AppInBrowser, projectId: string) {
  const { body } = await service.get(`/api/tasks?projectId=${projectId}&limit=200&sort=createdAt`)
  return (body.data as TaskListItem[])
    .filter(({ mergedInto, title }) => mergedInto === null && title !== 'Has names')
    .map((task) => ({ title: task.title, reports: task.reports, decision: decisionOf(task) }))
}

function decisionOf(task: TaskListItem): Decision | undefined {
  if (task.status === 'done') return task.closedReason === 'not_planned' ? 'notPlanned' : 'done'
  if (task.snoozedUntil) return 'snoozed'
  if (task.assignees.includes('ada')) return 'ada'
  if (task.assignees.includes('bob')) return 'bob'
  if (task.priority === 'high') return 'high'
  return task.triaged ? 'accepted' : undefined
}
