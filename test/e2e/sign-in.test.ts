import { describe, expect } from 'vitest'
import { expectNone, panelOf, test } from './support/browser.ts'

describe('signing in', () => {
  test('takes a key, says when it is wrong, and leads back to where somebody wanted to go', async ({
    desk,
  }) => {
    const task = (await desk.service.post('/api/tasks', { title: 'Linked from a message' })).body
    const page = await desk.open(`/tasks/${task.id}`, { key: null })
    await page.getByLabel('API key').fill('not-a-key-of-this-inlet')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('No key like that works here').waitFor()
    await page.getByLabel('API key').fill(desk.service.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await panelOf(page).getByText('Linked from a message').waitFor()
    await expect.poll(() => page.url()).toContain(`/tasks/${task.id}`)
  })

  test('never leads elsewhere', async ({ desk }) => {
    const page = await desk.open('/sign-in?next=//elsewhere.example/', { key: null })
    await page.getByLabel('API key').fill(desk.service.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${desk.service.url}/tasks`)
  })

  test('shows only what the key may do', async ({ desk }) => {
    const key = await desk.service.given.key({ name: 'reader', scopes: ['tasks:read'] })
    const page = await desk.open('/tasks', { key })
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'New task' }).count()).toBe(0)
    await page.goto(`${desk.service.url}/settings/sessions`)
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
    for (const name of ['keys', 'webhook', 'routing', 'events']) {
      await page.goto(`${desk.service.url}/settings/${name}`)
      await page.getByRole('heading', { name: 'Not for this key' }).waitFor()
      await expect.poll(() => page.getByRole('button', { name: /^(Create|Add)/ }).count()).toBe(0)
    }
  })

  test('says what a key may not read once, where it would stand', async ({ desk }) => {
    const key = await desk.service.given.key({ name: 'writer', scopes: ['rules:write'] })
    const page = await desk.open('/tasks', { key })
    await page.getByText('Your key may not read tasks').waitFor()
    await page.waitForTimeout(500)
    await expectNone(page, page.getByRole('alert'))
    await page.goto(`${desk.service.url}/settings/keys`)
    await page.getByRole('button', { name: 'Sign in with another key' }).click()
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
  })

  test('signs out everywhere', async ({ desk }) => {
    const key = await desk.service.given.key({ name: 'somebody' })
    const [one, other] = [await desk.open('/tasks', { key }), await desk.open('/tasks', { key })]
    await one.getByRole('button', { name: /somebody/ }).click()
    await one.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    await one.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
  })

  test('signs out everywhere without being an administrator, and nobody else', async ({ desk }) => {
    const given = { name: 'a reader', scopes: ['tasks:read'] as const }
    const key = await desk.service.given.key({ ...given, scopes: [...given.scopes] })
    const stranger = await desk.open('/tasks')
    const [one, other] = [await desk.open('/tasks', { key }), await desk.open('/tasks', { key })]
    await one.getByRole('button', { name: /a reader/ }).click()
    await one.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    await one.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await stranger.reload()
    await stranger.getByRole('heading', { name: 'All tasks' }).waitFor()
  })

  test('says so when the service cannot be asked who that is, and goes on when it can', async ({ desk }) => {
    const page = await desk.open('/sign-in')
    await page.route('**/api/me', (route) => route.abort())
    await page.goto(`${desk.service.url}/tasks`)
    await page.getByText('Inlet has not answered yet').waitFor()
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor()
    await page.unroute('**/api/me')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
  })
})
