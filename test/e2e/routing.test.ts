import { describe, expect } from 'vitest'
import { feedback, storing } from '../support/feedback.ts'
import { test } from './support/browser.ts'

describe('webhook routing', () => {
  test('is ordered by keyboard and tested with a payload', async ({ app }) => {
    const { post, get } = app.service
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
    const page = await app.open('/settings/routing')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(/would be created in Mobile/).waitFor()
    await page.getByRole('button', { name: /^Move second/ }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(async () => (await get('/api/webhook-routing')).body.data[0].name).toBe('second')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(/would be created in Web/).waitFor()
    const rules = page.getByRole('region', { name: 'Rules' }).getByRole('listitem')
    await rules.filter({ hasText: 'second' }).getByText('Matched:').waitFor()
    await rules.filter({ hasText: 'first' }).getByText('Not used:').waitFor()
  })

  test('asks for confirmation before a rule is deleted', async ({ app }) => {
    const { post, get } = app.service
    const { body: target } = await post('/api/projects', { name: 'Deleted from' })
    const made = { name: 'doomed', appMatch: 'com.example.doomed', targetProjectId: target.id }
    const { body: rule } = await post('/api/webhook-routing', made)
    const page = await app.open('/settings/routing')
    await page.getByRole('button', { name: 'Actions for doomed' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete “doomed”?' })
    await question.waitFor()
    expect((await get(`/api/webhook-routing/${rule.id}`)).status).toBe(200)
    await question.getByRole('button', { name: 'Delete rule' }).click()
    await page.getByRole('button', { name: 'Actions for doomed' }).waitFor({ state: 'detached' })
    await expect.poll(async () => (await get(`/api/webhook-routing/${rule.id}`)).status).toBe(404)
  })

  test('is ordered by dragging', async ({ app }) => {
    const { post, get } = app.service
    const { body: target } = await post('/api/projects', { name: 'Dragged' })
    for (const name of ['upper', 'middle', 'lower'])
      await post('/api/webhook-routing', { name, appMatch: `com.${name}`, targetProjectId: target.id })
    const page = await app.open('/settings/routing')
    const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name} with`) })
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
      (await get('/api/webhook-routing')).body.data.map(({ name }: { name: string }) => name)
    await expect.poll(order, { timeout: 30_000 }).toEqual(['lower', 'upper', 'middle'])
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'com.' }).count()).toBe(3)
    await page.reload()
    await handle('lower').waitFor()
    const shown = await page.getByRole('button', { name: /^Move (upper|middle|lower) with/ }).all()
    const names = await Promise.all(shown.map((one) => one.getAttribute('aria-label')))
    expect(names.map((name) => name?.split(/[ :]/)[1])).toEqual(['lower', 'upper', 'middle'])
  })

  test('is disabled, enabled and edited', async ({ app }) => {
    const { post, get } = app.service
    const { body: first } = await post('/api/projects', { name: 'Edited first' })
    await post('/api/projects', { name: 'Edited then' })
    const made = { name: 'edited', appMatch: 'com.example.edited', targetProjectId: first.id }
    const { body: rule } = await post('/api/webhook-routing', made)
    const stored = async () => (await get(`/api/webhook-routing/${rule.id}`)).body
    const page = await app.open('/settings/routing')
    const item = page.getByRole('listitem').filter({ hasText: 'com.example.edited' })
    await item.getByRole('switch').click({ force: true })
    await expect.poll(async () => (await stored()).isActive).toBe(false)
    await item.getByRole('switch').click({ force: true })
    await expect.poll(async () => (await stored()).isActive).toBe(true)

    await item.getByRole('button', { name: 'Actions for edited' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit rule' })
    await dialog.getByLabel('When app is').fill('')
    await expect.poll(() => dialog.getByRole('button', { name: 'Save rule' }).isDisabled()).toBe(true)
    await dialog.getByLabel('and project is').fill('Website')
    await dialog.getByRole('combobox', { name: 'put feedback in' }).click()
    await page.getByRole('option', { name: 'Edited then' }).click()
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'When project is Website, put feedback in Edited then' })
      .waitFor()
    await expect.poll(stored).toMatchObject({ name: 'edited', appMatch: null, projectMatch: 'Website' })
  })

  test('is added and tested with a delivery', async ({ app }) => {
    const { post } = app.service
    await post('/api/projects', { name: 'Routed from a delivery' })
    const event = feedback({ bundle_id: 'com.example.inbox', note: 'Picked out of many' })
    const store = await storing(app.service, event)
    await store()
    const page = await app.open('/settings/routing')
    await page.getByRole('button', { name: 'Add rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add rule' })
    await dialog.getByLabel('When app is').fill('COM.example.inbox')
    await dialog.getByRole('combobox', { name: 'put feedback in' }).click()
    await page.getByRole('option', { name: 'Routed from a delivery' }).click()
    await dialog.getByRole('button', { name: 'Add rule' }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'COM.example.inbox' })
    await item.waitFor()
    await page.getByRole('combobox', { name: 'From a delivery' }).click()
    await page.getByRole('option', { name: /Picked out of many/ }).click()
    await page.getByRole('button', { name: 'Try it' }).click()
    await item.getByText('Matched:').waitFor()
    await page.getByText('This event was already received').waitFor()
  })

  test('shows why a payload cannot be tested', async ({ app }) => {
    const page = await app.open('/settings/routing')
    const payload = page.getByRole('textbox', { name: 'Payload' })
    await page.getByRole('button', { name: 'Try it' }).click()
    const verdict = page.getByText(/would be created in/)
    await verdict.waitFor()
    await payload.fill('{"event": ')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Invalid JSON').waitFor()
    // It was about another payload.
    await verdict.waitFor({ state: 'detached' })
    await payload.fill('{"event": "feedback_submitted", "properties": {}}')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page
      .getByText(/distinct_id/)
      .last()
      .waitFor()
  })
})
