import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliveryOf } from '../support/feedback.ts'
import { type Desk, startDesk } from './support/browser.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.close())

describe('API keys', () => {
  test('are made, shown once in a dialog that stays, rotated and revoked', async () => {
    const page = await desk.open('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('ci')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'The key “ci”' })
    const secret = await dialog.locator('pre').first().innerText()
    expect(secret).toMatch(/^inl_/)
    expect((await desk.service.get('/api/me', { key: secret })).body.name).toBe('ci')
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    expect(await dialog.isVisible()).toBe(true)
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('button', { name: 'What to do with ci' }).click()
    await page.getByRole('menuitem', { name: /^Rotate/ }).click()
    const newer = await page.getByRole('dialog').locator('pre').first().innerText()
    expect(newer).not.toBe(secret)
    for (const key of [secret, newer]) expect((await desk.service.get('/api/me', { key })).status).toBe(200)
    await page.getByRole('dialog').getByRole('button', { name: 'I have stored it' }).click()
    await desk.service.delete(`/api/keys/${(await desk.service.get('/api/me', { key: secret })).body.id}`)
    await expect.poll(() => page.getByRole('button', { name: 'What to do with ci' }).count()).toBe(1)
    await page.getByRole('button', { name: 'What to do with ci' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('listitem').filter({ hasText: 'ci' }).waitFor({ state: 'detached' })
    for (const key of [secret, newer]) expect((await desk.service.get('/api/me', { key })).status).toBe(401)
    await page.context().close()
  })

  test('can do what they were given, and are copied also where browsers keep the clipboard back', async () => {
    const page = await desk.open('/settings/keys')
    // As over plain http from another machine.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('reader')
    const chosen = page.getByRole('dialog').getByRole('checkbox', { checked: true })
    while ((await chosen.count()) > 0) await chosen.first().uncheck()
    await page.getByRole('dialog').getByRole('checkbox', { name: 'tasks:read' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'The key “reader”' })
    const secret = await dialog.locator('pre').first().innerText()
    await dialog.getByRole('button', { name: 'Copy' }).first().click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    expect((await desk.service.get('/api/me', { key: secret })).body.scopes).toEqual(['tasks:read'])
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').focus()
    await page.keyboard.press('Control+V')
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe(secret)
    await page.context().close()
  })
})

describe('AI instructions', () => {
  test('are written, switched off, and taken back to what they were', async () => {
    const page = await desk.open('/settings/instructions')
    await page.getByRole('button', { name: 'Add instruction' }).click()
    await page.getByRole('textbox', { name: 'Instruction' }).fill('Answer in verse.')
    await page.getByRole('dialog').getByRole('button', { name: 'Add instruction' }).click()
    const preview = page.getByRole('region', { name: 'What an assistant gets' })
    await preview.getByText('Answer in verse.').waitFor()
    await page.getByRole('switch', { name: /Answer in verse/ }).click({ force: true })
    await expect
      .poll(async () => (await preview.locator('pre').first().innerText()).includes('verse'))
      .toBe(false)
    await page.getByRole('button', { name: /What to do with “Answer in verse/ }).click()
    await page.getByRole('menuitem', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Revert to this' }).click()
    await preview.getByText('Answer in verse.').waitFor()
    await page.context().close()
  })
})

describe('an instruction that is being written', () => {
  test('outlives Escape, the end of the session and a second look', async () => {
    const key = await desk.service.given.key({ name: 'writer' })
    const page = await desk.open('/settings/instructions', { key })
    await page.getByRole('button', { name: 'Add instruction' }).click()
    const text = page.getByRole('textbox', { name: 'Instruction' })
    await text.fill('A long thought.')
    await page.context().clearCookies()
    const writing = page.getByRole('dialog', { name: 'Add an instruction' })
    // The question may stand over the button already: the stream hears of the end as well.
    await writing.getByRole('button', { name: 'Add instruction' }).dispatchEvent('click')
    const question = page.getByRole('dialog', { name: 'Your session has ended' })
    await question.getByLabel('API key').fill(key)
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Sign in' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await text.inputValue()).toBe('A long thought.')
    await page.keyboard.press('Escape')
    await writing.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add instruction' }).click()
    expect(await text.inputValue()).toBe('A long thought.')
    await writing.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'Add instruction' }).click()
    expect(await text.inputValue()).toBe('')
    await page.context().close()
  })

  test('is not said to be deleted when it was not', async () => {
    await desk.service.post('/api/rules', { content: 'Stays where it is.' })
    const page = await desk.open('/settings/instructions')
    await page.route('**/api/rules/*', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    )
    const remove = async () => {
      await page.getByRole('button', { name: /What to do with “Stays/ }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    }
    await remove()
    await page.getByText('The instruction was not deleted').waitFor()
    expect(await page.getByText('Instruction deleted.').count()).toBe(0)
    await page.unroute('**/api/rules/*')
    await remove()
    await page.getByText('Instruction deleted.').waitFor()
    await page.context().close()
  })
})

describe('the order and the reach of AI instructions', () => {
  test('are changed in place, and the preview is exactly what is sent', async () => {
    const { post, get } = desk.service
    const { body: project } = await post('/api/projects', { name: 'Ruled' })
    await post('/api/rules', { content: 'Said by default.', priority: 1 })
    await post('/api/rules', { content: 'Meant to be first.', priority: 0 })
    await post('/api/rules', { content: 'Only where it belongs.', projectId: project.id })
    const page = await desk.open('/settings/instructions')
    const rules = page.getByRole('region', { name: 'Instructions' }).getByRole('listitem')
    const preview = page.getByRole('region', { name: 'What an assistant gets' }).locator('pre').first()
    const sent = async (query = '') => (await get(`/api/context?format=markdown${query}`)).body as string
    const withoutTime = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now').trim()
    await rules.filter({ hasText: 'Said by default.' }).waitFor()
    expect(await page.getByText('Only where it belongs.').count()).toBe(0)

    const priority = rules.filter({ hasText: 'Meant to be first.' }).getByRole('textbox')
    await priority.fill('9')
    await priority.press('Enter')
    await rules.first().getByText('Meant to be first.').waitFor()
    await expect.poll(async () => withoutTime(await preview.innerText())).toBe(withoutTime(await sent()))

    await page.getByRole('combobox', { name: 'For which project' }).click()
    await page.getByRole('option', { name: 'In Ruled' }).click()
    await rules.filter({ hasText: 'Only where it belongs.' }).getByText('Ruled').waitFor()
    const inProject = withoutTime(await sent(`&projectId=${project.id}`))
    expect(inProject).toContain('Only where it belongs.')
    await expect.poll(async () => withoutTime(await preview.innerText())).toBe(inProject)
    await page.context().close()
  })
})

describe('webhook routing', () => {
  test('is ordered by keyboard and tried against a payload', async () => {
    const { post, get } = desk.service
    const { body: mobile } = await post('/api/projects', { name: 'Mobile' })
    const { body: web } = await post('/api/projects', { name: 'Web' })
    await post('/api/webhook-routing', {
      name: 'first',
      appMatch: 'com.example.app',
      targetProjectId: mobile.id,
    })
    await post('/api/webhook-routing', {
      name: 'second',
      appMatch: 'com.example.app',
      targetProjectId: web.id,
    })
    const page = await desk.open('/settings/routing')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(/would land in Mobile/).waitFor()
    await page.getByRole('button', { name: /^Move second/ }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(async () => (await get('/api/webhook-routing')).body.data[0].name).toBe('second')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(/would land in Web/).waitFor()
    const rules = page.getByRole('region', { name: 'Rules' }).getByRole('listitem')
    await rules.filter({ hasText: 'second' }).getByText('Wins:').waitFor()
    await rules.filter({ hasText: 'first' }).getByText('Loses:').waitFor()
    await page.context().close()
  })

  test('asks before a rule is deleted', async () => {
    const { post, get } = desk.service
    const { body: target } = await post('/api/projects', { name: 'Deleted from' })
    const made = { name: 'doomed', appMatch: 'com.example.doomed', targetProjectId: target.id }
    const { body: rule } = await post('/api/webhook-routing', made)
    const page = await desk.open('/settings/routing')
    await page.getByRole('button', { name: 'What to do with doomed' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete “doomed”?' })
    await question.waitFor()
    expect((await get(`/api/webhook-routing/${rule.id}`)).status).toBe(200)
    await question.getByRole('button', { name: 'Delete rule' }).click()
    await page.getByRole('button', { name: 'What to do with doomed' }).waitFor({ state: 'detached' })
    expect((await get(`/api/webhook-routing/${rule.id}`)).status).toBe(404)
    await page.context().close()
  })

  test('is ordered by dragging', async () => {
    const { post, get } = desk.service
    const { body: target } = await post('/api/projects', { name: 'Dragged' })
    const before = (await get('/api/webhook-routing')).body.data.length
    for (const name of ['upper', 'middle', 'lower'])
      await post('/api/webhook-routing', { name, appMatch: `com.${name}`, targetProjectId: target.id })
    const page = await desk.open('/settings/routing')
    const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name}:`) })
    await handle('lower').scrollIntoViewIfNeeded()
    const middleOf = async (name: string) => {
      const box = await handle(name).boundingBox()
      if (!box) throw new Error(`The handle of ${name} is not in sight.`)
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    }
    const [from, to] = [await middleOf('lower'), await middleOf('upper')]
    await page.mouse.move(from.x, from.y)
    await page.mouse.down()
    await page.mouse.move(from.x, from.y - 10, { steps: 3 })
    await page.mouse.move(to.x, to.y - 4, { steps: 12 })
    await page.mouse.up()
    const order = async () =>
      (await get('/api/webhook-routing')).body.data.slice(before).map(({ name }: { name: string }) => name)
    await expect.poll(order, { timeout: 30_000 }).toEqual(['lower', 'upper', 'middle'])
    expect(await page.getByRole('listitem').filter({ hasText: 'com.' }).allInnerTexts()).toHaveLength(
      before + 3,
    )
    await page.reload()
    await handle('lower').waitFor()
    const shown = await page.getByRole('button', { name: /^Move (upper|middle|lower):/ }).all()
    const names = await Promise.all(shown.map((one) => one.getAttribute('aria-label')))
    expect(names.map((name) => name?.split(/[ :]/)[1])).toEqual(['lower', 'upper', 'middle'])
    await page.context().close()
  })
})

describe('the event inbox', () => {
  test('shows what came in and leads to its task', async () => {
    const { post } = desk.service
    const { body: made } = await post('/api/webhook-secrets', {})
    const event = {
      event: 'feedback_submitted',
      distinct_id: 'user-1',
      timestamp: '2026-01-31T12:00:00.000Z',
      properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'Lovely colours' },
    }
    const headers = { authorization: `Bearer ${made.secret}` }
    const sent = await post('/api/analytics/webhook', event, { key: null, headers })
    expect(sent.status).toBe(201)
    const page = await desk.open('/settings/events')
    await page.getByText('loved: Lovely colours').waitFor()
    await page.getByRole('button', { name: 'Payload' }).click()
    await page.getByText('"distinct_id": "user-1"').waitFor()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replayed; it has its task.').waitFor()
    await page.getByRole('link', { name: 'Open the task' }).click()
    await page.getByText('Read-only, because it is what a user wrote.').waitFor()
    await page.context().close()
  })

  test('keeps what was rejected, with the reason, to be tried again', async () => {
    const page = await desk.open('/settings/events')
    await page.getByText('Rejected', { exact: true }).click()
    await page.getByText('Nothing was rejected').waitFor()
    const event = { event: 'feedback_submitted', distinct_id: 'user-1', properties: { sentiment: 'furious' } }
    await desk.service.service.feedback.receive(deliveryOf(desk.service, event)).catch(() => {})
    await page.reload()
    await page.getByText('Rejected', { exact: true }).click()
    await page
      .getByText(/sentiment/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replayed, and rejected again.').waitFor()
    await page.context().close()
  })
})

describe('project settings', () => {
  test('rename, add lists, and archive', async () => {
    const { body: project } = await desk.service.post('/api/projects', { name: 'Before' })
    const page = await desk.open(`/projects/${project.id}`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('After')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'After', level: 1 }).waitFor()
    await page.getByLabel('Name of a new list').fill('Later')
    await page.getByRole('button', { name: 'Add list' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Later' }).waitFor()
    await page.getByRole('button', { name: 'Archive project' }).click()
    await page.getByText('This project is archived').waitFor()
    await page.context().close()
  })
})
