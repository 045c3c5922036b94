import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from 'vitest'
import { startApp } from '../support/app.ts'
import { WEBHOOK_SECRET } from '../support/feedback.ts'
import { createTask, delayRequests, expectNone, panelOf, rowOf, taskOf, testWith } from './support/browser.ts'
import { sendEqual } from './support/equal-feedback.ts'
import { openAndClosePalette, pressAtOnce } from './support/keys.ts'
import { settled } from './support/looks.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

describe('on the triage page', () => {
  test('an undo right after a merge takes that back, and not what was decided before', async ({
    app,
    expect,
  }) => {
    const earlier = await createTask(app, { title: 'Decided before' })
    const ids = await sendEqual(app, 3)
    const page = await app.open('/triage')
    await rowOf(page, 'Notifications').getByText('×3').waitFor()
    await pressAtOnce(page, ['y'])
    await page.getByText('3 left').waitFor()
    const release = await delayRequests(page, { url: /\/merge$/, method: 'POST' })
    await pressAtOnce(page, ['m', 'z'])
    release()
    await page.getByText('Undone: “Merged 2 tasks into').waitFor()
    await page.getByText('3 left').waitFor()
    for (const id of ids)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ mergedInto: null, triaged: false })
    expect(await taskOf(app, earlier.id)).toMatchObject({ triaged: true })
  })

  test('the undo of a group does what it can when somebody deleted one of it', async ({ app, expect }) => {
    const ids = await sendEqual(app, 4)
    const page = await app.open('/triage')
    await rowOf(page, 'Notifications').getByText('×4').waitFor()
    await pressAtOnce(page, ['m'])
    await page.getByText('Merged 3 tasks into').waitFor()
    await app.service.delete(`/api/tasks/${ids[2]}`)
    await pressAtOnce(page, ['z'])
    await page.getByRole('alert').getByText('Deleted, or not visible to your key.').waitFor()
    for (const id of [ids[1], ids[3]])
      await expect.poll(() => taskOf(app, id ?? '')).toMatchObject({ mergedInto: null, triaged: false })
  })

  test('m merges the group of the open task, also after the filter changed', async ({ app, expect }) => {
    const ids = await sendEqual(app, 3)
    const page = await app.open(`/triage/${ids[0]}`)
    await rowOf(page, 'Notifications').first().getByText('×3').waitFor()
    await settled(page)
    await page.getByRole('button', { name: 'Source', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Feedback' }).click()
    await page.keyboard.press('Escape')
    await page.waitForURL(/source/)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('m')
    await page.getByText('Merged 2 tasks into').waitFor()
    expect(
      (await Promise.all(ids.map((id) => taskOf(app, id)))).filter((task) => task.mergedInto),
    ).toHaveLength(2)
  })

  test('a group stays highlighted when somebody merges some of it', async ({ app, expect }) => {
    await createTask(app, { title: 'Before' })
    const ids = await sendEqual(app, 4)
    await createTask(app, { title: 'After' })
    const page = await app.open('/triage', { isLive: true })
    const row = rowOf(page, 'Notifications')
    await row.getByText('×4').waitFor()
    await pressAtOnce(page, ['j'])
    const highlighted = page.locator('[data-task][aria-current]').filter({ hasText: 'Notifications' })
    await highlighted.waitFor()
    // First into another one, and then the one that was highlighted.
    for (const [merged, first] of [
      [3, ids[1]],
      [0, ids[1]],
    ] as const) {
      await app.service.post(`/api/tasks/${ids[merged]}/merge`, { into: ids[1] })
      await page.locator(`[data-task="${first}"][aria-current]`).waitFor()
    }
    const focused = () => page.evaluate("document.activeElement?.closest('[data-task]')?.dataset.task")
    await expect.poll(focused).toBe(ids[1])
    await pressAtOnce(page, ['y', 'e'])
    await page.getByText('1 left').waitFor()
    for (const id of [ids[1], ids[2]])
      await expect.poll(() => taskOf(app, id ?? '')).toMatchObject({ status: 'open', triaged: true })
  })

  test('an undo of a merge leaves what somebody has merged elsewhere since', async ({ app, expect }) => {
    const ids = await sendEqual(app, 3)
    const other = await createTask(app, {
      title: 'Another',
      listId: (await taskOf(app, ids[0] ?? '')).listId,
    })
    const page = await app.open('/triage')
    await rowOf(page, 'Notifications').getByText('×3').waitFor()
    await pressAtOnce(page, ['m'])
    await page.getByText('Merged 2 tasks into').waitFor()
    await app.service.post(`/api/tasks/${ids[2]}/unmerge`)
    await app.service.post(`/api/tasks/${ids[2]}/merge`, { into: other.id })
    await pressAtOnce(page, ['z'])
    await page.getByText('Changed by someone else since: “Notifications arrive twice”.').waitFor()
    expect(await taskOf(app, ids[1] ?? '')).toMatchObject({ mergedInto: null, triaged: false })
    expect(await taskOf(app, ids[2] ?? '')).toMatchObject({ mergedInto: other.id })
  })

  test('an undo of a merge that fails half way is completed by the next one', async ({ app, expect }) => {
    const ids = await sendEqual(app, 3)
    const page = await app.open('/triage')
    await rowOf(page, 'Notifications').getByText('×3').waitFor()
    await pressAtOnce(page, ['m'])
    await page.getByText('Merged 2 tasks into').waitFor()
    await page.route(/\/api\/tasks/, (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.fallback(),
    )
    await pressAtOnce(page, ['z'])
    const refusal = page.getByRole('alert').filter({ hasText: "Couldn't undo “Merged 2 tasks into" })
    await refusal.waitFor()
    await page.unroute(/\/api\/tasks/)
    await refusal.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone: “Merged 2 tasks into').waitFor()
    for (const id of ids.slice(1))
      expect(await taskOf(app, id)).toMatchObject({ mergedInto: null, triaged: false })
  })

  test('a task that others merge into one elsewhere in the list hands on to its neighbor', async ({
    app,
    expect,
  }) => {
    const ids: string[] = []
    for (let number = 1; number <= 60; number++)
      ids.push((await createTask(app, { title: `Different ${number}` })).id)
    const page = await app.open('/triage')
    await rowOf(page, 'Different 1').first().waitFor()
    await pressAtOnce(page, ['j', 'j'])
    const highlighted = page.locator('[data-task][aria-current]')
    await expect.poll(() => highlighted.innerText()).toContain('Different 3')
    await app.service.post(`/api/tasks/${ids[2]}/merge`, { into: ids[55] })
    await expect.poll(() => highlighted.innerText()).toContain('Different 4')
    await page.keyboard.press('y')
    await expect.poll(() => taskOf(app, ids[3] ?? '')).toMatchObject({ triaged: true })
  })

  test('an undo of accept leaves what somebody has decided since', async ({ app, expect }) => {
    const done = await createTask(app, { title: 'Done by others' })
    const high = await createTask(app, { title: 'High for others' })
    const discussed = await createTask(app, { title: 'Discussed by others' })
    await createTask(app, { title: 'Rest' })
    const page = await app.open('/triage')
    await rowOf(page, 'Rest').waitFor()
    await pressAtOnce(page, ['y', 'y', 'y'])
    await expect.poll(() => taskOf(app, discussed.id)).toMatchObject({ triaged: true })
    await app.service.patch(`/api/tasks/${done.id}`, { status: 'done' })
    await app.service.patch(`/api/tasks/${high.id}`, { priority: 'high' })
    await app.service.post(`/api/tasks/${discussed.id}/comments`, { body: 'Same here' })
    for (const [count, { id }] of [discussed, high, done].entries()) {
      await pressAtOnce(page, ['z'])
      await expect.poll(() => page.getByText('It was changed or commented on since.').count()).toBe(count + 1)
      expect(await taskOf(app, id)).toMatchObject({ triaged: true })
    }
    await expectNone(page, page.getByText('Undone:'))
  })

  test('an undo says what stays, because somebody has decided since', async ({ app, expect }) => {
    const { id } = await createTask(app, { title: 'Done too early' })
    await createTask(app, { title: 'Rest' })
    const page = await app.open('/triage')
    await rowOf(page, 'Rest').waitFor()
    await pressAtOnce(page, ['e'])
    await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'done' })
    await app.service.patch(`/api/tasks/${id}`, { priority: 'high' })
    await pressAtOnce(page, ['z'])
    await page
      .getByText(
        'Undone in part: “Done: Done too early”. It stays out of Triage, because it was changed or commented on since.',
      )
      .waitFor()
    expect(await taskOf(app, id)).toMatchObject({ status: 'open', priority: 'high', triaged: true })
    await page.getByText('1 left').waitFor()
  })

  test('an undo of a merge snoozes again', async ({ app, expect }) => {
    const { id, listId } = await createTask(app, {
      title: 'Sleeps',
      snoozedUntil: '2100-01-01T00:00:00.000Z',
    })
    const target = await createTask(app, { title: 'Target', listId })
    const page = await app.open(`/tasks/${id}`)
    await panelOf(page).getByText('Sleeps').first().waitFor()
    await page.keyboard.press('d')
    await page.getByRole('combobox', { name: 'Merge into' }).fill('target')
    await page.getByRole('option', { name: 'Target' }).click()
    await expect.poll(() => taskOf(app, id)).toMatchObject({ mergedInto: target.id })
    await page.getByText('Merged “Sleeps” into “Target”').waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('z')
    await expect
      .poll(() => taskOf(app, id))
      .toMatchObject({ mergedInto: null, snoozedUntil: '2100-01-01T00:00:00.000Z' })
  })

  test('m asks for the target of tasks that somebody has selected', async ({ app, expect }) => {
    const [first, second] = [await createTask(app, { title: 'One' }), await createTask(app, { title: 'Two' })]
    const page = await app.open('/triage')
    await rowOf(page, 'Two').waitFor()
    await pressAtOnce(page, ['x', 'j', 'x'])
    await page.getByText('2 selected').waitFor()
    await pressAtOnce(page, ['m'])
    await page.getByRole('combobox', { name: 'Merge into' }).waitFor()
    for (const { id } of [first, second]) expect((await taskOf(app, id)).mergedInto).toBe(null)
  })

  test('a key that is pressed twice on the last row acts once', async ({ app, expect }) => {
    const { id } = await createTask(app, { title: 'The only one' })
    const page = await app.open('/triage')
    await rowOf(page, 'The only one').waitFor()
    await pressAtOnce(page, ['e', 'e'])
    await page.getByText('Nothing left to triage').waitFor()
    await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'done', version: 2 })
  })

  test('what others decide leaves the focus where somebody types', async ({ app, expect }) => {
    const [first] = [await createTask(app, { title: 'First' }), await createTask(app, { title: 'Second' })]
    const page = await app.open('/triage', { isLive: true })
    await rowOf(page, 'Second').waitFor()
    await pressAtOnce(page, ['j', 'x'])
    await page.getByRole('button', { name: 'Add label' }).click()
    const label = page.getByRole('combobox', { name: 'Label to add' })
    await label.fill('regr')
    await app.service.patch(`/api/tasks/${first.id}`, { priority: 'low' })
    await rowOf(page, 'First').waitFor({ state: 'detached' })
    await page.keyboard.type('ession')
    await expect.poll(() => label.inputValue()).toBe('regression')
  })

  test('a name that some of a group have already decides about all of it', async ({ app, expect }) => {
    const ids = await sendEqual(app, 3)
    await app.service.patch(`/api/tasks/${ids[1]}`, { assignees: ['ada'], triaged: false })
    const page = await app.open('/triage')
    await rowOf(page, 'Notifications').getByText('×3').waitFor()
    await pressAtOnce(page, ['a'])
    await page.getByRole('combobox').fill('ada')
    await page.getByRole('option', { name: 'ada' }).click()
    await page.getByText('Nothing left to triage').waitFor()
    for (const id of ids)
      await expect.poll(() => taskOf(app, id)).toMatchObject({ triaged: true, assignees: ['ada'] })
  })
})

describe('a list', () => {
  test('hides what was snoozed, and highlights the next task', async ({ app, expect }) => {
    const [second, first] = [
      await createTask(app, { title: 'Second' }),
      await createTask(app, { title: 'First' }),
    ]
    const page = await app.open('/tasks')
    await rowOf(page, 'First').waitFor()
    await openAndClosePalette(page)
    await pressAtOnce(page, ['j', 'h', '2', 'e'])
    await rowOf(page, 'First').waitFor({ state: 'detached' })
    await expect.poll(() => taskOf(app, second.id)).toMatchObject({ status: 'done' })
    await expect.poll(async () => (await taskOf(app, first.id)).snoozedUntil).not.toBe(null)
    // Whoever looks for it finds it.
    await page.goto(`${app.service.url}/tasks?q=First`)
    await rowOf(page, 'First').waitFor()
    await page.goto(`${app.service.url}/tasks/${first.id}`)
    await panelOf(page).getByText('First').waitFor()
  })

  test('applies an undo to the edit before it, however their code is loaded', async ({ app, expect }) => {
    const { id } = await createTask(app, { title: 'Undone' })
    const page = await app.open('/sign-in')
    await page.route(/assets\/task-actions-/, async (route) => {
      await sleep(500)
      await route.continue()
    })
    await page.goto(`${app.service.url}/tasks`)
    await rowOf(page, 'Undone').waitFor()
    await pressAtOnce(page, ['j', 'e', 'z'])
    await page.getByText('Undone: “Done: Undone”').waitFor()
    await expect.poll(() => taskOf(app, id)).toMatchObject({ status: 'open' })
  })
})
