import { describe } from 'vitest'
import { startApp } from '../support/app.ts'
import { WEBHOOK_SECRET } from '../support/feedback.ts'
import { createTask, panelOf, rowOf, taskOf, testWith } from './support/browser.ts'
import { sendEqual } from './support/equal-feedback.ts'
import { pressAtOnce } from './support/keys.ts'

const test = testWith(() => startApp({ env: { WEBHOOK_SECRET } }))

describe('an undo brings back to Triage', () => {
  test.for(['Labels', 'Assignees'])(
    'a task that got one of %s in its panel',
    async (name, { app, expect }) => {
      const { id } = await createTask(app, { title: 'Decided by a chip' })
      await createTask(app, { title: 'Rest' })
      const page = await app.open(`/triage/${id}`, { isLive: true })
      await panelOf(page).getByLabel(name).fill('added')
      await page.keyboard.press('Enter')
      await expect.poll(() => taskOf(app, id)).toMatchObject({ triaged: true })
      await page.evaluate('document.activeElement.blur()')
      await page.keyboard.press('z')
      await page.getByText('Undone: “').waitFor()
      expect(await taskOf(app, id)).toMatchObject({ triaged: false, labels: [], assignees: [] })
      await rowOf(page, 'Decided by a chip').waitFor()
    },
  )

  test('a group, apart from what somebody has commented on since', async ({ app, expect }) => {
    const ids = await sendEqual(app, 8)
    const page = await app.open('/triage', { isLive: true })
    await rowOf(page, 'Notifications').getByText('×8').waitFor()
    await pressAtOnce(page, ['y'])
    for (const id of ids) await expect.poll(() => taskOf(app, id)).toMatchObject({ triaged: true })
    const [discussed = '', ...rest] = ids
    await app.service.post(`/api/tasks/${discussed}/comments`, { body: 'I look into it' })
    await page.keyboard.press('z')
    await page.getByText('Changed by someone else since').waitFor()
    expect(await taskOf(app, discussed)).toMatchObject({ triaged: true })
    for (const id of rest) expect(await taskOf(app, id)).toMatchObject({ triaged: false })
  })

  test('merged reports, apart from what somebody has decided about since', async ({ app, expect }) => {
    const ids = await sendEqual(app, 4)
    const page = await app.open('/triage', { isLive: true })
    await rowOf(page, 'Notifications').getByText('×4').waitFor()
    await pressAtOnce(page, ['m'])
    await page.getByText('Merged 3 tasks into').waitFor()
    const merged = await Promise.all(ids.map((id) => taskOf(app, id)))
    const reports = merged.filter(({ mergedInto }) => mergedInto !== null)
    const [commented = '', prioritised = '', untouched = ''] = reports.map(({ id }) => id)
    await app.service.post(`/api/tasks/${commented}/comments`, { body: 'I look into it' })
    await app.service.patch(`/api/tasks/${prioritised}`, { priority: 'low' })
    await page.keyboard.press('z')
    await page.getByText('Not back in Triage, because they were changed or commented on since').waitFor()
    for (const id of [commented, prioritised])
      expect(await taskOf(app, id)).toMatchObject({ mergedInto: null, status: 'open', triaged: true })
    expect(await taskOf(app, untouched)).toMatchObject({ mergedInto: null, triaged: false })
  })
})
