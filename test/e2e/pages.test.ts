import { describe, expect } from 'vitest'
import { deliver } from '../support/code-host-deliveries.ts'
import { feedback, storing } from '../support/feedback.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, collectErrors, smallTargets, testWith, violationsOn } from './support/browser.ts'
import { givenPerson, openAs } from './support/people.ts'

/** The address of each page, on a service that has something to show. */
async function fill({ service }: AppInBrowser<Syncing>) {
  const { post } = service
  const { body: project } = await post('/api/projects', { name: 'Mobile app' })
  const { body: task } = await post('/api/tasks', {
    title: 'Crash when saving a draft',
    description: 'A **table**:\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    labels: ['crash'],
    priority: 'high',
  })
  await post('/api/rules', { content: 'Run the tests first.', priority: 3 })
  await post('/api/webhook-routing', { appMatch: 'com.example.app', targetProjectId: project.id })
  const store = await storing(service, feedback())
  await store()
  const { body: gone } = await post('/api/tasks', { title: 'Gone' })
  await service.delete(`/api/tasks/${gone.id}`)
  await post('/api/webhook-secrets', {})
  await givenPerson({ service }, { username: 'ada', name: 'Ada', role: 'member', projectIds: [project.id] })
  await post('/api/invites', { name: 'Grace', role: 'viewer' })
  await post('/api/sources', {
    name: 'Contact form',
    projectId: project.id,
    verify: { scheme: 'bearer' },
    template: { title: '{{ payload.title }}' },
  })
  const { project: synced, repository } = await service.connected()
  const { body: webhook } = await post(`/api/projects/${synced.id}/codehost/webhook-secret`)
  await deliver(webhook, { event: 'ping', payload: { repository: { id: repository.id } } })
  await deliver(webhook, { event: 'watch', payload: { action: 'started' } })
  return {
    triage: '/triage',
    tasks: '/tasks',
    'a task that is gone': `/tasks/${gone.id}`,
    'an empty project': `/tasks?projectId=${project.id}`,
    'a project that is not there': `/projects/${gone.id}`,
    task: `/tasks/${task.id}`,
    'nothing found': '/tasks?q=nothing-is-called-that',
    'project settings': `/projects/${project.id}`,
    instructions: '/settings/instructions',
    keys: '/settings/keys',
    people: '/settings/people',
    sessions: '/settings/sessions',
    webhook: '/settings/webhook',
    routing: '/settings/routing',
    sources: '/settings/sources',
    'outgoing webhooks': '/settings/outgoing',
    'feedback deliveries': '/settings/feedback-deliveries',
    deliveries: `/settings/deliveries?projectId=${synced.id}`,
    'no such page': '/nowhere',
  }
}

const test = testWith(() => startSyncing()).extend('pages', { auto: true }, ({ app }) => fill(app))

describe('every page', () => {
  test.for([
    { width: 1360, target: 32 },
    { width: 390, target: 44 },
  ])(
    'passes axe at $width px in both themes, fits the width, and has targets of $target px',
    async ({ width, target }, { app, pages }) => {
      const page = await app.open('/tasks', {
        viewport: { width, height: 844 },
        reducedMotion: 'reduce',
        ...(width < 500 && { hasTouch: true, isMobile: true }),
      })
      const pageErrors = collectErrors(page)
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(app.service.url + path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await settled(page)
        expect([name, await violationsInBothThemes(page)]).toEqual([name, []])
        expect([name, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([
          name,
          0,
        ])
        expect([name, await smallTargets(page, target)]).toEqual([name, []])
      }
      expect(pageErrors).toEqual([])
    },
  )

  test.for(['/sign-in', '/sign-in#key', '/invite#secret', '/new-password#secret', '/new-password'])(
    'without a session passes axe: %s',
    async (path, { app }) => {
      const viewport = { width: 360, height: 844 }
      const page = await app.open(path, { key: null, viewport, hasTouch: true, isMobile: true })
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await settled(page)
      expect(await violationsInBothThemes(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      expect(await smallTargets(page, 44)).toEqual([])
    },
  )

  test('of an account passes axe', async ({ app }) => {
    const page = await openAs(app, 'ada', '/settings/account')
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    await settled(page)
    expect(await violationsInBothThemes(page)).toEqual([])
    expect(await smallTargets(page, 32)).toEqual([])
    await page.setViewportSize({ width: 360, height: 844 })
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  })

  test('with an open menu passes axe', async ({ app, pages }) => {
    const page = await app.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Priority', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'High' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    // The first item has the focus, as whoever opens a menu by keyboard expects.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/priority=/)
    await page.keyboard.press('Escape')
    const menus = [
      ['/tasks', 'Order: Newest first'],
      ['/tasks', /switch project/],
      ['/tasks', /account menu/],
      [pages.task, 'More actions'],
      [pages['project settings'], /Actions for Inbox/],
      ['/settings/instructions', /Actions for “Run/],
      ['/settings/routing', /Actions for app com/],
      ['/settings/people', 'Actions for Ada'],
    ] as const
    for (const [path, name] of menus) {
      await page.goto(app.service.url + path)
      await page.getByRole('button', { name }).first().click()
      await page.getByRole('menu').waitFor()
      expect([name, await violationsInBothThemes(page)]).toEqual([name, []])
    }
  })

  test('with a selection, a popover or a toast passes axe', async ({ app, pages }) => {
    const page = await app.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('listitem').first().hover()
    await page.getByLabel('Select Crash when saving a draft').check()
    await page.getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('combobox', { name: 'Label to add' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Label to add' }).fill('seen')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.goto(app.service.url + pages.task)
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'In progress' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: 'Copy link' }).hover()
    await page.locator('[data-tooltip-shown]', { hasText: 'Copy link' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
  })

  test('with a dialog passes axe', async ({ app, pages }) => {
    const page = await app.open('/tasks', { reducedMotion: 'reduce' })
    const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
    const pick = async (menu: RegExp, item: string) => {
      await press(menu)
      await page.getByRole('menuitem', { name: item }).click()
    }
    const create = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
    const dialogs: [path: string | undefined, dialog: string, steps: () => Promise<unknown>][] = [
      ['/tasks', 'New task', () => press('New task')],
      ['/tasks', 'New project', () => press('New project')],
      ['/tasks', 'Keyboard shortcuts', () => page.getByRole('heading').first().press('?')],
      [
        '/settings/keys',
        'API key “seen”',
        async () => {
          await press('Create key')
          await page.getByRole('dialog').getByLabel('Name').fill('seen')
          expect(await violationsInBothThemes(page)).toEqual([])
          await create('Create key')
        },
      ],
      ['/settings/people', 'Invite a person', () => press('Invite a person')],
      ['/settings/people', 'Access of Ada', () => pick(/Actions for Ada/, 'Change role and projects')],
      ['/settings/people', 'New password for Ada', () => pick(/Actions for Ada/, 'New password')],
      ['/tasks', 'Create your account', () => press('Create your account')],
      ['/settings/webhook', 'Revoke', () => press('Revoke')],
      ['/settings/instructions', 'Add instruction', () => press('Add instruction')],
      ['/settings/instructions', 'History', () => pick(/Actions for “Run/, 'History')],
      ['/settings/routing', 'Edit rule', () => pick(/Actions for app com/, 'Edit')],
      ['/settings/routing', 'Delete', () => pick(/Actions for app com/, 'Delete')],
      [pages['project settings'], 'Rename list', () => pick(/Actions for Inbox/, 'Rename')],
    ]
    for (const [path, name, steps] of dialogs) {
      await page.goto(app.service.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await settled(page)
      await steps()
      await page.getByRole('dialog', { name }).waitFor()
      await settled(page)
      expect([name, await violationsInBothThemes(page)]).toEqual([name, []])
      expect([name, await smallTargets(page, 32)]).toEqual([name, []])
    }
  })

  test('with an edit conflict or a label filter passes axe', async ({ app }) => {
    const { body: task } = await app.service.post('/api/tasks', { title: 'Written twice' })
    // Room for all filters beside the task.
    const viewport = { width: 1900, height: 900 }
    const page = await app.open(`/tasks/${task.id}`, { reducedMotion: 'reduce', viewport })
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    await page.getByRole('combobox', { name: 'Filter by label' }).click()
    await page.getByRole('option', { name: 'crash' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await app.service.patch(`/api/tasks/${task.id}`, { notes: 'theirs' })
    await page.getByRole('button', { name: 'Save notes' }).click()
    await page.getByRole('button', { name: 'Keep mine' }).waitFor()
    expect(await violationsInBothThemes(page)).toEqual([])
  })
})

/** Violations in the light and the dark theme. */
async function violationsInBothThemes(page: Page): Promise<string[]> {
  const violations: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    violations.push(...(await violationsOn(page)).map((words) => `${colorScheme}: ${words}`))
  }
  return violations
}

/** Waits until nothing is loading; `networkidle` never happens because of the stream. */
async function settled(page: Page) {
  const loading = page.locator('.mantine-Skeleton-root, [aria-label$="loading"], #first-paint')
  await loading.first().waitFor({ state: 'detached' })
}
