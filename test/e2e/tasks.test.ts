import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { collectErrors, createTask, expectNone, panelOf, rowOf, test } from './support/browser.ts'

describe('the list of tasks', () => {
  test('is filtered by the address', async ({ app }) => {
    await createTask(app, { title: 'Zebra crossing is red', priority: 'high' })
    await createTask(app, { title: 'Zebra food', priority: 'low' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Zebra food').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('zebra')
    await rowOf(page, 'Zebra food').waitFor()
    await page.getByRole('button', { name: 'Priority', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'High' }).click()
    await rowOf(page, 'Zebra food').waitFor({ state: 'detached' })
    await page.waitForURL(/q=zebra/)
    await page.reload()
    await rowOf(page, 'Zebra crossing').waitFor()
    await expect.poll(() => rowOf(page, 'Zebra').count()).toBe(1)
  })

  test('keeps every character typed into the search box', async ({ app }) => {
    await createTask(app, { title: 'Quokka habitat' })
    const page = await app.open('/tasks')
    const search = page.getByRole('searchbox', { name: 'Search tasks' })
    await search.pressSequentially('quokka ')
    await page.waitForURL(/q=quokka/)
    await rowOf(page, 'Quokka habitat').waitFor()
    await search.pressSequentially('habitat')
    await page.waitForURL(/q=quokka(\+|%20)habitat/)
    await expect.poll(() => search.inputValue()).toBe('quokka habitat')
    await page.getByRole('link', { name: /All tasks/ }).click()
    await expect.poll(() => search.inputValue()).toBe('')
  })

  test('shows the keyboard focus on a plain button', async ({ app }) => {
    const task = await createTask(app, { title: 'Ringed' })
    const page = await app.open(`/tasks/${task.id}`)
    const title = panelOf(page).getByRole('button', { name: 'Ringed' })
    await title.waitFor()
    await page.keyboard.press('Tab')
    await title.focus()
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  })

  test('works by keyboard: create, navigate, open, complete, undo', async ({ app }) => {
    await createTask(app, { title: 'The next one' })
    const page = await app.open('/tasks')
    const pageErrors = collectErrors(page)
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('Title').fill('Made with the keyboard')
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('Made with the keyboard').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('e')
    await page.getByText('Done: Made with the keyboard').waitFor()
    await rowOf(page, 'Made with the keyboard')
      .getByRole('button', { name: /Reopen/ })
      .waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf(page, 'Made with the keyboard')
      .getByRole('button', { name: /Mark done/ })
      .waitFor()
    await page.keyboard.press('j')
    await panelOf(page).getByText('Made with the keyboard').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/tasks$/)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(pageErrors).toEqual([])
  })

  test('changes several tasks at once and undoes a deletion', async ({ app }) => {
    for (const title of ['Bulk one', 'Bulk two', 'Bulk three']) await createTask(app, { title })
    const page = await app.open('/tasks?q=bulk')
    for (const title of ['Bulk one', 'Bulk two', 'Bulk three']) {
      await rowOf(page, title).hover()
      await page.getByLabel(`Select ${title}`).check()
    }
    await page.getByRole('toolbar').getByRole('button', { name: 'Priority' }).click()
    await page.getByRole('menuitem', { name: 'High' }).click()
    await page.getByText('3 tasks: Priority high.').waitFor()
    await expect
      .poll(async () => (await app.service.get('/api/tasks?q=bulk&priority=high')).body.data.length)
      .toBe(3)
    await rowOf(page, 'Bulk one').hover()
    await page.getByLabel('Select Bulk one').check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    await rowOf(page, 'Bulk one').waitFor({ state: 'detached' })
    await page
      .locator('[role=alert]')
      .filter({ hasText: 'Deleted: Bulk one' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await rowOf(page, 'Bulk one').waitFor()
  })

  test('moves several tasks, sets their status, and undoes it', async ({ app }) => {
    const project = await app.service.given.project({ name: 'Moved there' })
    for (const title of ['Move me', 'Move me too']) await createTask(app, { title })
    const stored = async () =>
      (await app.service.get('/api/tasks?q=move me')).body.data.map(
        (task: { listId: string; status: string }) => [task.listId === project.inbox.id, task.status],
      )
    const page = await app.open('/tasks?q=move me')
    const selectBoth = async () => {
      for (const title of ['Move me too', 'Move me']) {
        await rowOf(page, title).first().hover()
        await page.getByLabel(`Select ${title}`, { exact: true }).check()
      }
    }
    await selectBoth()
    await page.getByRole('toolbar').getByRole('button', { name: 'Status' }).click()
    await page.getByRole('menuitem', { name: 'In progress' }).click()
    await expect.poll(stored).toEqual(Array(2).fill([false, 'in_progress']))
    await selectBoth()
    await page.getByRole('toolbar').getByRole('button', { name: 'Move' }).click()
    await page.getByRole('group', { name: 'Moved there' }).getByRole('menuitem', { name: 'Inbox' }).click()
    await page.getByText('2 tasks: Moved.').waitFor()
    await expect.poll(stored).toEqual(Array(2).fill([true, 'in_progress']))
    await page
      .getByRole('alert')
      .filter({ hasText: '2 tasks: Moved.' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await expect.poll(stored).toEqual(Array(2).fill([false, 'in_progress']))
  })

  test('waits for the rate limit of a key during a bulk edit', async ({ app }) => {
    const titles = Array.from({ length: 12 }, (_, index) => `Patient ${index}`)
    for (const title of titles) await createTask(app, { title })
    const page = await app.open('/tasks?q=patient')
    let refused = 0
    await page.route('**/api/tasks/*', (route) => {
      if (route.request().method() !== 'PATCH' || ++refused > 2) return route.continue()
      const headers = { 'retry-after': '1', 'content-type': 'application/problem+json' }
      return route.fulfill({
        status: 429,
        headers,
        body: JSON.stringify({ status: 429, code: 'rate_limited' }),
      })
    })
    await page.getByLabel('Select Patient 11').check({ force: true })
    await page.getByLabel('Select Patient 0', { exact: true }).click({ modifiers: ['Shift'], force: true })
    await page.getByRole('toolbar').getByRole('button', { name: 'Mark done' }).click()
    await page.getByText('Rate limit reached: 12 tasks will be sent in 1 s.').first().waitFor()
    await page.getByText('12 tasks: Done.').waitFor()
    await expect
      .poll(async () => (await app.service.get('/api/tasks?q=patient&status=done')).body.data)
      .toHaveLength(12)
    await expectNone(page, page.getByText("Couldn't update"))
  })

  test('is filtered by labels, picked or typed', async ({ app }) => {
    await createTask(app, { title: 'Narrow one', labels: ['narrow', 'seen'] })
    await createTask(app, { title: 'Narrow two', labels: ['narrow'] })
    await createTask(app, { title: 'Wide' })
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    const labels = page.getByRole('combobox', { name: 'Filter by label' })
    // The focus is there by itself: what is typed is a label, not a command; half of one is given up with Escape.
    await page.locator('[aria-label="Filter by label"]:focus').waitFor()
    await page.keyboard.type('ecx')
    await page.keyboard.press('Escape')
    await labels.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(page.url()).toBe(`${app.service.url}/tasks`)
    await page.getByRole('button', { name: 'Label', exact: true }).click()
    await page.getByRole('option', { name: 'narrow', exact: true }).click()
    await rowOf(page, 'Wide').waitFor({ state: 'detached' })
    await expect.poll(() => rowOf(page, 'Narrow').count()).toBe(2)
    await labels.press('Backspace')
    await rowOf(page, 'Wide').waitFor()
    await labels.fill('seen')
    await labels.press('Enter')
    await page.waitForURL(/label=/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Label: seen' }).waitFor()
    await rowOf(page, 'Narrow two').waitFor({ state: 'detached' })
    await expect.poll(() => rowOf(page, 'Narrow one').count()).toBe(1)
  })

  test('without matches says so and shows a curl command for the same query', async ({ app }) => {
    const page = await app.open('/tasks?q=it’s "nothing"&priority=["high"]')
    await page.getByText('No matching tasks').waitFor()
    const line = await page.locator('pre').innerText()
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      line.replace('$INLET_KEY', app.service.adminKey),
    ])
    expect(JSON.parse(stdout)).toMatchObject({ data: [], nextCursor: null })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL(/\/tasks$/)
  })

  test('adds a label to several tasks and undoes it', async ({ app }) => {
    const labels = ['kept']
    for (const title of ['Tagged one', 'Tagged two']) await createTask(app, { title, labels })
    const page = await app.open('/tasks?q=tagged')
    for (const title of ['Tagged one', 'Tagged two']) {
      await rowOf(page, title).hover()
      await page.getByLabel(`Select ${title}`).check()
    }
    await page.getByRole('toolbar').getByRole('button', { name: 'Add label' }).click()
    await page.getByRole('combobox', { name: 'Label to add' }).fill('regression')
    await page.keyboard.press('Enter')
    await page.getByText('2 tasks: Label regression added.').waitFor()
    const labelled = async () =>
      (await app.service.get('/api/tasks?q=tagged')).body.data.map(
        (task: { labels: string[] }) => task.labels,
      )
    await expect.poll(labelled).toEqual([
      ['kept', 'regression'],
      ['kept', 'regression'],
    ])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(labelled).toEqual([['kept'], ['kept']])
  })

  test('switches between projects', async ({ app }) => {
    const [first, second] = [
      await app.service.given.project({ name: 'First project' }),
      await app.service.given.project({ name: 'Second project' }),
    ]
    const page = await app.open(`/tasks?projectId=${first.id}`)
    await page.getByRole('button', { name: 'First project: switch project' }).click()
    await page.getByRole('menuitemradio', { name: /Second project/ }).click()
    await page.waitForURL(new RegExp(second.id))
    await page.getByRole('button', { name: 'Second project: switch project' }).waitFor()
  })

  test('shows a working curl command when it is empty', async ({ app }) => {
    const project = await app.service.given.project({ name: 'Empty project' })
    const page = await app.open(`/tasks?projectId=${project.id}&listId=${project.inbox.id}`)
    const line = await page.locator('pre').filter({ hasText: 'curl' }).innerText()
    expect(line).toContain(`${app.service.url}/api/tasks`)
    expect(line).toContain(project.inbox.id)
  })
})
