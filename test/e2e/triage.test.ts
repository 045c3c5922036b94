import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { createTask, expectNone, panelOf, rowOf, taskOf, test, violationsOn } from './support/browser.ts'

const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Command palette' })

/** Presses keys one after another, and counts them. */
function keysOf(page: Page) {
  let count = 0
  return {
    count: () => count,
    async press(...keys: string[]) {
      for (const key of keys) {
        count++
        await page.keyboard.press(key)
      }
    },
  }
}

describe('triage by keyboard', () => {
  test('sorts 30 tasks into five outcomes in a minute, with at most 140 keys', async ({ app }) => {
    const { service } = app
    const { id: projectId, inbox } = await service.given.project({ name: 'Mobile' })
    const { body: later } = await service.post(`/api/projects/${projectId}/lists`, { name: 'Later' })
    await service.given.task(inbox, {
      title: 'Known names',
      labels: ['regression'],
      assignees: ['ada'],
      createdAt: new Date(Date.UTC(2025, 0, 1)),
    })
    const outcomes = ['done', 'high', 'regression', 'ada', 'later'] as const
    for (let number = 0; number < 30; number++)
      await service.given.task(inbox, {
        title: `Task ${number} ${outcomes[number % 5]}`,
        createdAt: new Date(Date.UTC(2026, 0, 1, 0, 100 - number)),
      })
    const page = await app.open(`/tasks?projectId=${projectId}`)
    await rowOf(page, 'Task 29 later').waitFor()
    // Fetched when the page is idle.
    await page.keyboard.press('Control+k')
    await paletteOf(page).getByRole('combobox').waitFor()
    await page.keyboard.press('Escape')
    await paletteOf(page).waitFor({ state: 'detached' })
    const { press, count } = keysOf(page)
    const begin = performance.now()
    for (let round = 0; round < 6; round++) {
      await press('j', 'e')
      await press('j', 'p', 'h', 'Enter')
      await press('j', 'l', 'r', 'e', 'g', 'Enter', 'Escape')
      await press('j', 'a', 'a', 'd', 'Enter')
      await press('j', 'v', 'l', 'Enter')
    }
    await expect
      .poll(async () => {
        const { data } = (await service.get(`/api/tasks?projectId=${projectId}&limit=200`)).body
        return Object.fromEntries(
          outcomes.map((outcome) => [
            outcome,
            data.filter((task: Record<string, unknown>) => {
              const [labels, assignees] = [task.labels as string[], task.assignees as string[]]
              const found = {
                done: task.status === 'done',
                high: task.priority === 'high',
                regression: labels.includes('regression'),
                ada: assignees.includes('ada'),
                later: task.listId === later.id,
              }
              return found[outcome] && String(task.title).endsWith(outcome)
            }).length,
          ]),
        )
      })
      .toEqual({ done: 6, high: 6, regression: 6, ada: 6, later: 6 })
    expect(performance.now() - begin).toBeLessThan(60_000)
    expect(count()).toBeLessThanOrEqual(140)
  })

  test('selects with Shift and Ctrl-A, and changes what is selected', async ({ app }) => {
    const ids: string[] = []
    for (const title of ['Four', 'Three', 'Two', 'One']) ids.unshift((await createTask(app, { title })).id)
    const page = await app.open('/tasks')
    await rowOf(page, 'Four').waitFor()
    const { press } = keysOf(page)
    const selected = () => page.locator('[data-task] input:checked').count()
    await press('j', 'Shift+ArrowDown', 'Shift+ArrowDown')
    await page.getByText('3 selected').waitFor()
    await press('Shift+ArrowUp')
    await page.getByText('2 selected').waitFor()
    expect(await focused(page)).toBe('Two')
    await press('s', 'i', 'n', 'Enter')
    await page.getByText('2 tasks: In progress.').waitFor()
    expect((await taskOf(app, ids[1] ?? '')).status).toBe('in_progress')
    expect((await taskOf(app, ids[2] ?? '')).status).toBe('open')
    // The row keeps the focus, and the tasks stay selected for the next key.
    await expect.poll(() => focused(page)).toBe('Two')
    expect(await selected()).toBe(2)
    await press('Escape')
    await expect.poll(selected).toBe(0)
    await press('j', 'Shift+J')
    await page.getByText('2 selected').waitFor()
    await press('Control+a')
    await page.getByText('4 selected').waitFor()
    await press('a', 'g', 'r', 'a', 'c', 'e', 'Enter')
    await page.getByText('4 tasks: Assignee grace added.').waitFor()
    expect((await taskOf(app, ids[3] ?? '')).assignees).toEqual(['grace'])
    // What all have is removed.
    await press('a', 'g', 'r', 'a', 'c', 'e', 'Enter')
    await page.getByText('4 tasks: Assignee grace removed.').waitFor()
    expect((await taskOf(app, ids[3] ?? '')).assignees).toEqual([])
    await press('z')
    await page.getByText('Undone: “4 tasks: Assignee grace removed”').waitFor()
    expect((await taskOf(app, ids[3] ?? '')).assignees).toEqual(['grace'])
  })

  test('leaves the keys to text boxes, dialogs and the browser', async ({ app }) => {
    const task = await createTask(app, { title: 'Left alone' })
    const page = await app.open('/tasks')
    await rowOf(page, 'Left alone').waitFor()
    await page.keyboard.press('j')
    const search = page.getByRole('searchbox', { name: 'Search tasks' })
    await search.focus()
    await page.keyboard.type('splave')
    await expect.poll(() => search.inputValue()).toBe('splave')
    await page.keyboard.press('Control+k')
    await expectNone(page, paletteOf(page))
    await search.fill('')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('p')
    await page.keyboard.press('Control+k')
    await expectNone(page, paletteOf(page))
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
    // Beside an open task, Ctrl-A without a focus in the list selects text.
    await page.getByRole('link', { name: 'Left alone' }).click()
    await panelOf(page).getByText('Updated').click()
    await page.keyboard.press('Control+a')
    await expectNone(page, page.locator('[data-task] input:checked'))
    expect(await page.evaluate('getSelection().toString().length > 0')).toBe(true)
    expect((await taskOf(app, task.id)).version).toBe(1)
  })

  test('creates a task with Ctrl-Enter from any field, with the label just typed', async ({ app }) => {
    await createTask(app, { title: 'Has names', labels: ['regression'], assignees: ['grace'] })
    const page = await app.open('/tasks')
    await rowOf(page, 'Has names').waitFor()
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'New task' })
    await dialog.getByLabel('Description').fill('Two\nlines')
    await dialog.getByLabel('Title').fill('By two keys')
    await dialog.getByRole('combobox', { name: 'Assignees' }).fill('gr')
    await page.getByRole('option', { name: 'grace' }).click()
    await dialog.getByRole('combobox', { name: 'Labels' }).fill('typed')
    await page.keyboard.press('Control+Enter')
    await panelOf(page).getByText('By two keys').waitFor()
    const { data } = (await app.service.get('/api/tasks?q=keys')).body
    expect(data).toMatchObject([{ title: 'By two keys', labels: ['typed'], assignees: ['grace'] }])
  })
})

describe('the command palette', () => {
  test('goes to pages, projects and lists', async ({ app }) => {
    const { id } = await app.service.given.project({ name: 'Mobile' })
    const { body: list } = await app.service.post(`/api/projects/${id}/lists`, { name: 'Later' })
    const page = await app.open('/settings/sessions')
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('later')
    await paletteOf(page).getByRole('option', { name: 'Mobile / Later' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mobile / Later' }).waitFor()
    expect(page.url()).toContain(list.id)
    await page.keyboard.press('Meta+k')
    await page.keyboard.type('deliveries in')
    await expect.poll(() => paletteOf(page).getByRole('option').count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Incoming', exact: true }).waitFor()
  })

  test('changes the selected tasks, step by step', async ({ app }) => {
    for (const title of ['Second', 'First']) await createTask(app, { title })
    const page = await app.open('/tasks')
    await rowOf(page, 'Second').waitFor()
    const { press } = keysOf(page)
    await press('j', 'Shift+J', 'Control+k')
    await paletteOf(page).getByText('2 selected tasks').waitFor()
    await page.keyboard.type('prio')
    await press('Enter')
    await paletteOf(page).getByRole('combobox', { name: 'Set priority' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    // Back with Backspace, then again by the arrow keys.
    await press('Backspace')
    await paletteOf(page).getByRole('combobox', { name: 'Command palette' }).waitFor()
    await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter', 'ArrowUp', 'Enter')
    await page.getByText('2 tasks: Priority low.').waitFor()
    await paletteOf(page).waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Second')
  })

  test('finds a task by words or number, also when Enter comes before the response', async ({ app }) => {
    const { inbox } = await app.service.given.project()
    await createTask(app, { title: 'Crash after the second start' })
    await app.service.given.task(inbox, {
      title: 'The numbered one',
      source: 'codehost',
      codehostNumber: 4711,
      codehostKind: 'issue',
    })
    const page = await app.open('/tasks')
    await rowOf(page, 'The numbered one').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('start crash')
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('Crash after the second start').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('#4711')
    await page.keyboard.press('Enter')
    await panelOf(page).getByText('The numbered one').waitFor()
  })

  test('keeps what is typed while it loads, also Enter', async ({ app }) => {
    const task = await createTask(app, { title: 'Soon high' })
    const page = await app.open('/sign-in')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(/assets\/palette-.*\.js/, async (route) => {
      await released
      await route.continue()
    })
    await page.goto(`${app.service.url}/tasks`)
    await rowOf(page, 'Soon high').waitFor()
    for (const key of ['j', 'p', 'h', 'i', 'Enter']) await page.keyboard.press(key)
    await expectNone(page, paletteOf(page))
    release()
    await page.getByText('Priority high: Soon high').waitFor()
    expect((await taskOf(app, task.id)).priority).toBe('high')
    expect(new URL(page.url()).pathname).toBe('/tasks')
  })

  test('passes axe in both themes and on a phone, and closes with Escape or a click beside it', async ({
    app,
  }) => {
    await createTask(app, { title: 'Named' })
    for (const options of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { viewport: { width: 390, height: 844 } },
    ] as const) {
      const page = await app.open('/tasks', { ...options, reducedMotion: 'reduce' })
      await rowOf(page, 'Named').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Control+k')
      await paletteOf(page).getByRole('option', { name: 'Set status…' }).waitFor()
      expect(await violationsOn(page)).toEqual([])
      await page.keyboard.type('nothing like this')
      await paletteOf(page).getByText('No matches').waitFor()
      expect(await violationsOn(page)).toEqual([])
      await page.keyboard.press('Escape')
      await paletteOf(page).waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe('Named')
      await page.keyboard.press('l')
      await paletteOf(page).getByRole('combobox', { name: 'Add or remove label' }).waitFor()
      await page.mouse.click(2, 2)
      await paletteOf(page).waitFor({ state: 'detached' })
      await page.close()
    }
  })
})
