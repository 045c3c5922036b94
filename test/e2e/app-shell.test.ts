import { describe, expect } from 'vitest'
import { panelOf, test, violationsOn } from './support/browser.ts'

describe('the app shell', () => {
  test('saves, renames, and removes filters', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Urgent', priority: 'high' })
    await app.service.post('/api/tasks', { title: 'Whenever', priority: 'low' })
    const page = await app.open('/tasks?priority=["high"]')
    await page.getByRole('button', { name: 'Save filter' }).click()
    const name = page.getByRole('dialog', { name: 'Save filter' }).getByLabel('Name')
    await expect.poll(() => name.inputValue()).toBe('High')
    await name.press('Enter')
    await page.getByText('Filter “High” saved').waitFor()
    await page.getByRole('link', { name: 'All tasks' }).click()
    await page.getByRole('link', { name: 'Whenever' }).waitFor()
    await page.reload()
    const kept = page
      .getByRole('navigation', { name: 'Tasks' })
      .getByRole('link', { name: 'High 1 task', exact: true })
    await kept.click()
    await page.getByRole('link', { name: 'Whenever' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Urgent' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Save filter' }).count()).toBe(0)

    const choose = async (filter: string, action: string) => {
      await page.getByRole('button', { name: `Actions for filter ${filter}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('High', 'Rename')
    const dialog = page.getByRole('dialog', { name: 'Rename filter' })
    await dialog.getByLabel('Name').fill('Do first')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const renamed = page.getByRole('link', { name: 'Do first 1 task', exact: true })
    await renamed.waitFor()
    expect((await app.service.get('/api/saved-filters')).body.data).toMatchObject([
      { name: 'Do first', query: { priority: ['high'] } },
    ])

    await choose('Do first', 'Delete')
    await renamed.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save filter' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await renamed.waitFor()
  })

  test('shows the name of an icon button that has the pointer or the focus', async ({ app }) => {
    await app.service.post('/api/projects', { name: 'Named' })
    const page = await app.open('/tasks', { isLive: true })
    const tooltip = page.locator('[data-tooltip-shown]')
    const gear = page.getByRole('link', { name: 'Settings for Named' })
    await gear.hover()
    await tooltip.filter({ hasText: 'Settings for Named' }).waitFor()
    await page.mouse.move(700, 500)
    await tooltip.waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await gear.focus()
    await tooltip.filter({ hasText: 'Settings for Named' }).waitFor()
    await page.keyboard.press('Escape')
    await tooltip.waitFor({ state: 'detached' })
    await page.goto(`${app.service.url}/tasks?priority=["high"]`)
    await page.getByRole('button', { name: 'Save filter' }).hover()
    await tooltip.filter({ hasText: 'Save filter' }).waitFor()
    // It goes with its button.
    await page.getByRole('button', { name: 'Save filter' }).click()
    await tooltip.waitFor({ state: 'detached' })
  })

  test('keeps the selected theme or follows the system', async ({ app }) => {
    const page = await app.open('/tasks', { colorScheme: 'light' })
    const theme = (name: string) => page.locator(`html[data-mantine-color-scheme="${name}"]`)
    await theme('light').waitFor()
    const choose = async (name: string) => {
      await page.getByRole('button', { name: /account menu/ }).click()
      await page.getByRole('menuitemradio', { name }).click()
      await page.keyboard.press('Escape')
    }
    await choose('Dark')
    await theme('dark').waitFor()
    await page.reload()
    await theme('dark').waitFor()
    await choose('System')
    await theme('light').waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await theme('dark').waitFor()
  })

  test('offers every way in to a service without tasks', async ({ app }) => {
    const { data } = (await app.service.get('/api/projects')).body
    const page = await app.open('/tasks')
    const list = page.getByRole('region', { name: 'Tasks' })
    for (const [name, path] of [
      ['Connect a repository', `/projects/${data[0].id}`],
      ['Receive feedback', '/settings/webhook'],
      ['Add a source', '/settings/sources'],
      ['Connect an assistant', '/settings/keys'],
      ['API reference', '/docs'],
    ] as const)
      await expect.poll(() => list.getByRole('link', { name, exact: true }).getAttribute('href')).toBe(path)
    expect(await violationsOn(page)).toEqual([])
    await list.getByRole('link', { name: 'Add a source' }).click()
    await page.getByRole('heading', { name: 'Sources', exact: true }).waitFor()
  })

  test('has a menu drawer on a phone', async ({ app }) => {
    await app.service.post('/api/projects', { name: 'In the drawer' })
    const page = await app.open('/tasks', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: /In the drawer/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Open menu' }).tap()
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /^In the drawer/ })
      .tap()
    await page.getByRole('heading', { name: 'In the drawer' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page
      .getByRole('link', { name: 'Create your first task' })
      .or(page.getByRole('button', { name: 'Create your first task' }))
      .tap()
    await page.getByRole('dialog').getByLabel('Title').fill('By thumb')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Create/ })
      .tap()
    await panelOf(page).getByText('By thumb').waitFor()
    await page.getByRole('button', { name: 'Close task' }).tap()
    await page.getByRole('link', { name: 'By thumb' }).waitFor()
  })

  test('has shortcuts and a document title on every page', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'Urgent' })
    const page = await app.open('/settings/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await expect.poll(() => page.title()).toBe('API keys · Inlet')
    await page.keyboard.press('/')
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await expect.poll(() => page.title()).toBe('All tasks · Inlet')
    await page.locator('input[type=search]:focus').waitFor()
    await page.keyboard.type('urgent')
    await page.waitForURL(/q=urgent/)
    // Back by the browser's buttons, the keys are commands again.
    await page.goto(`${app.service.url}/settings/keys`)
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.keyboard.press('/')
    await page.locator('input[type=search]:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Urgent' }).click()
    await panelOf(page).getByText('Urgent').waitFor()
    await page.goBack()
    await panelOf(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.locator('input[type=search]:focus').count()).toBe(0)
    await page.goto(`${app.service.url}/settings/sessions`)
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog').getByLabel('Title').waitFor()
  })

  test('creates a project', async ({ app }) => {
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Made by hand')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Create|Add|Make/ })
      .click()
    await page.getByRole('heading', { name: 'Made by hand' }).waitFor()
  })
})
