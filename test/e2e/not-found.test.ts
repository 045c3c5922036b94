import { describe, expect } from 'vitest'
import { panelOf, rowOf, test } from './support/browser.ts'

describe('an address', () => {
  test.for([
    ['is invalid', '/tasks/42'],
    ['names a deleted task', '/tasks/01890000-0000-7000-8000-000000000000'],
  ] as const)('that %s shows "Task not found" next to the list', async ([, path], { app }) => {
    await app.service.post('/api/tasks', { title: 'Beside it' })
    const page = await app.open(path)
    await panelOf(page).getByRole('heading', { name: 'Task not found' }).waitFor()
    await rowOf(page, 'Beside it').waitFor()
    await expect.poll(() => panelOf(page).innerText()).not.toMatch(/path\.|uuid|400|404/i)
    const isRestorable = path !== '/tasks/42'
    await expect
      .poll(() => panelOf(page).getByRole('button', { name: 'Restore task' }).count())
      .toBe(isRestorable ? 1 : 0)
  })

  test.for(['/nowhere', '/settings/nowhere', '/tasks/a/b'])(
    'that is unknown keeps the sidebar: %s',
    async (path, { app }) => {
      const page = await app.open(path)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      await page
        .getByRole('complementary', { name: 'Sidebar' })
        .getByRole('link', { name: /All tasks/ })
        .click()
      await page.getByRole('heading', { name: 'All tasks' }).waitFor()
      await expect.poll(() => page.getByRole('main').count()).toBe(1)
    },
  )

  test('whose page failed to load shows a readable error and reloads when it is available', async ({
    app,
  }) => {
    const page = await app.open('/sign-in')
    await page.route(/assets\/keys-page|readyz/, (route) => route.abort('connectionrefused'))
    await page.goto(`${app.service.url}/settings/keys`)
    const notice = page.getByRole('alert').filter({ hasText: "Couldn't load this page" })
    await notice.getByText("Couldn't load part of this page").waitFor()
    await expect.poll(() => notice.innerText()).not.toMatch(/TypeError|http:/)
    await page.getByRole('complementary', { name: 'Sidebar' }).waitFor()
    await page.unroute(/assets\/keys-page|readyz/)
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  test('that is opened while the service is down shows an error and loads when it is back', async ({
    app,
  }) => {
    const page = await app.open('/sign-in')
    await page.route(/\/api\/|readyz/, (route) => route.abort('connectionrefused'))
    await page.goto(`${app.service.url}/tasks`)
    await page.getByRole('alert').getByText("Couldn't reach Inlet").waitFor()
    await page.unroute(/\/api\/|readyz/)
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
  })
})
