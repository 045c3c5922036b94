import { describe, expect } from 'vitest'
import { expectNone, panelOf, signInByKey, test } from './support/browser.ts'
import { givenPerson } from './support/people.ts'

describe('signing in', () => {
  test('accepts a key, rejects an invalid one, and returns to the requested page', async ({ app }) => {
    const task = (await app.service.post('/api/tasks', { title: 'Linked from a message' })).body
    const page = await app.open(`/tasks/${task.id}`, { key: null })
    await signInByKey(page, 'not-a-key-of-this-inlet')
    await page.getByText('Invalid API key').waitFor()
    await signInByKey(page, app.service.adminKey)
    await panelOf(page).getByText('Linked from a message').waitFor()
    await expect.poll(() => page.url()).toContain(`/tasks/${task.id}`)
  })

  test('asks for a key at once while nobody has an account', async ({ app }) => {
    const page = await app.open('/sign-in', { key: null })
    await page.getByLabel('API key').waitFor()
    await givenPerson(app, { username: 'mira', name: 'Mira', role: 'owner' })
    await page.reload()
    await page.getByText('Other ways to sign in').waitFor()
    await expect.poll(() => page.getByLabel('API key').isVisible()).toBe(false)
  })

  test('shows the first page, for which nobody was signed in before', async ({ app }) => {
    await app.service.post('/api/tasks', { title: 'The first to be seen' })
    const page = await app.open('/', { key: null })
    await signInByKey(page, app.service.adminKey)
    await page.getByText('The first to be seen').waitFor()
    await page.waitForTimeout(500)
    await expectNone(page, page.getByText('Your session has ended'))
  })

  test.for(['//elsewhere.example/', '/%09/elsewhere.example/'])(
    'never redirects to another site: %s',
    async (next, { app }) => {
      const page = await app.open(`/sign-in?next=${next}`, { key: null })
      await signInByKey(page, app.service.adminKey)
      await page.getByRole('heading', { name: 'Triage', exact: true }).waitFor()
      await expect.poll(() => page.url()).toBe(`${app.service.url}/triage`)
    },
  )

  test('shows only what the key is allowed to use', async ({ app }) => {
    const key = await app.service.given.key({ name: 'reader', scopes: ['tasks:read'] })
    const page = await app.open('/tasks', { key })
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'New task' }).count()).toBe(0)
    await page.goto(`${app.service.url}/settings/sessions`)
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
    for (const name of ['keys', 'webhook', 'routing', 'outgoing']) {
      await page.goto(`${app.service.url}/settings/${name}`)
      await page.getByRole('heading', { name: 'Access denied' }).waitFor()
      await expect.poll(() => page.getByRole('button', { name: /^(Create|Add)/ }).count()).toBe(0)
    }
  })

  test('shows once that a key cannot read tasks', async ({ app }) => {
    const key = await app.service.given.key({ name: 'writer', scopes: ['rules:write'] })
    const page = await app.open('/tasks', { key })
    await page.getByText('Your key does not have the scope tasks:read').waitFor()
    await page.waitForTimeout(500)
    await expectNone(page, page.getByRole('alert'))
    await page.goto(`${app.service.url}/settings/keys`)
    await page.getByRole('button', { name: 'Sign in with another key' }).click()
    await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
  })

  test('signs out everywhere', async ({ app }) => {
    const key = await app.service.given.key({ name: 'somebody' })
    const [one, other] = [await app.open('/tasks', { key }), await app.open('/tasks', { key })]
    await one.getByRole('button', { name: /somebody/ }).click()
    await one.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    await one.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
  })

  test('signs out all sessions of a key without admin scope, and no others', async ({ app }) => {
    const given = { name: 'a reader', scopes: ['tasks:read'] as const }
    const key = await app.service.given.key({ ...given, scopes: [...given.scopes] })
    const stranger = await app.open('/tasks')
    const [one, other] = [await app.open('/tasks', { key }), await app.open('/tasks', { key })]
    await one.getByRole('button', { name: /a reader/ }).click()
    await one.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    await one.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
    await stranger.reload()
    await stranger.getByRole('heading', { name: 'All tasks' }).waitFor()
  })

  test('shows an error when /api/me fails, and continues when it works again', async ({ app }) => {
    const page = await app.open('/sign-in')
    await page.route('**/api/me', (route) => route.abort())
    await page.goto(`${app.service.url}/tasks`)
    await page.getByText('Inlet has not responded yet').waitFor()
    await page.getByRole('heading', { name: "Couldn't load this page" }).waitFor()
    await page.unroute('**/api/me')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
  })
})
