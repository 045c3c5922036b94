import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complaintsOf, type Desk, objectionsTo, startDesk } from './support/browser.ts'

let desk: Desk
let pages: Record<string, string>
beforeAll(async () => {
  desk = await startDesk()
  const { post } = desk.service
  const { body: project } = await post('/api/projects', { name: 'Mobile app' })
  const { body: task } = await post('/api/tasks', {
    title: 'Crash when saving a draft',
    description: 'A **table**:\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    labels: ['crash'],
    priority: 'high',
  })
  await post('/api/rules', { content: 'Run the tests first.', priority: 3 })
  await post('/api/webhook-routing', { appMatch: 'com.example.app', targetProjectId: project.id })
  pages = {
    tasks: '/tasks',
    task: `/tasks/${task.id}`,
    'nothing found': '/tasks?q=nothing-is-called-that',
    'project settings': `/projects/${project.id}`,
    instructions: '/settings/instructions',
    keys: '/settings/keys',
    sessions: '/settings/sessions',
    webhook: '/settings/webhook',
    routing: '/settings/routing',
    events: '/settings/events',
    'no such page': '/nowhere',
  }
})
afterAll(() => desk.close())

describe('every page', () => {
  test.each([
    ['light', 1360],
    ['dark', 1360],
    ['light', 390],
    ['dark', 390],
  ] as const)('is without fault for axe, %s at %i px, and fits', async (colorScheme, width) => {
    const page = await desk.open('/tasks', {
      colorScheme,
      viewport: { width, height: 844 },
      reducedMotion: 'reduce',
      ...(width < 500 && { hasTouch: true, isMobile: true }),
    })
    const complaints = complaintsOf(page)
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(desk.service.url + path)
      await page.getByRole('heading').first().waitFor()
      // The stream never lets the network rest; half a second is what the regions need.
      await page.waitForTimeout(500)
      expect([name, await objectionsTo(page)]).toEqual([name, []])
      expect([name, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([
        name,
        0,
      ])
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('to sign in is without fault for axe', async () => {
    const page = await desk.open('/sign-in', { key: null })
    await page.getByRole('heading').first().waitFor()
    expect(await objectionsTo(page)).toEqual([])
    await page.context().close()
  })

  test('with a menu open is without fault for axe', async () => {
    const page = await desk.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Priority', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'High' }).waitFor()
    // The library puts menus at the end of the body, with an empty element that takes the first focus.
    const ofTheLibrary = /^(region|aria-required-children):/
    expect((await objectionsTo(page)).filter((objection) => !ofTheLibrary.test(objection))).toEqual([])
    await page.context().close()
  })

  test('that is a dialog is without fault for axe', async () => {
    const page = await desk.open('/tasks', { reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByRole('dialog').getByLabel('Title').waitFor()
    expect(await objectionsTo(page)).toEqual([])
    await page.goto(`${desk.service.url}/settings/keys`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    expect(await objectionsTo(page)).toEqual([])
    await page.context().close()
  })
})
