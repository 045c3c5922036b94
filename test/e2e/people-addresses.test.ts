import { expect } from 'vitest'
import { expectNone, test } from './support/browser.ts'
import { field, givenPerson, openAs, PASSWORD } from './support/people.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

test('the first account is created at an address, and Back leaves a draft without its password', async ({
  app,
}) => {
  const page = await app.open('/trash')
  const dialog = page.getByRole('dialog', { name: 'Create your account' })
  await page.getByRole('button', { name: 'Create your account' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create your account' }).click()
  await field(dialog, 'Username').fill('ada')
  await field(dialog, 'Name').fill('Ada Lovelace')
  await field(dialog, 'Password').fill(PASSWORD)
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  const stored = (await page.evaluate('JSON.stringify([sessionStorage, localStorage])')) as string
  expect(stored).toContain('Ada Lovelace')
  expect(stored).not.toContain(PASSWORD)
  await page.goForward()
  await dialog.waitFor()
  await page.reload()
  await expect.poll(() => field(dialog, 'Username').inputValue()).toBe('ada')
  await expect.poll(() => field(dialog, 'Name').inputValue()).toBe('Ada Lovelace')
  await expect.poll(() => field(dialog, 'Password').inputValue()).toBe('')
  await field(dialog, 'Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: /Ada Lovelace.*owner/ }).waitFor()
  expect(page.url()).toBe(`${app.service.url}/trash`)
  // There is an owner now.
  const other = await app.open('/trash?new=account')
  await other.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
  await other.waitForResponse(/api\/users/)
  await expectNone(other, other.getByRole('dialog'))
})

test('the first account is created from the menu of a phone', async ({ app }) => {
  const page = await app.open('/trash', PHONE)
  const dialog = page.getByRole('dialog', { name: 'Create your account' })
  await page.getByRole('button', { name: 'Open menu' }).tap()
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('button', { name: 'Create your account' }).tap()
  await field(dialog, 'Username').fill('ada')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${app.service.url}/trash?new=account`)
  await expect.poll(() => field(dialog, 'Username').inputValue()).toBe('ada')
})

test('the keys to rotate have an address while their creator is deactivated', async ({ app }) => {
  const { service } = app
  await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
  const { id } = await givenPerson(app, { username: 'grace', name: 'Grace', role: 'owner' })
  await service.post('/api/keys', { name: 'deploy', scopes: ['tasks:read'] })
  await service.post('/api/keys', { name: 'of the admin', scopes: ['tasks:read'] })
  await service.query(
    `update api_keys set created_by_type = 'user', created_by_id = $1, created_by_name = 'Grace' where name = 'deploy'`,
    [id],
  )
  const page = await openAs(app, 'ada', `/settings/people?rotate-keys=${id}`)
  await page.getByRole('button', { name: 'Actions for Grace' }).waitFor()
  await expectNone(page, page.getByRole('dialog'))
  await service.patch(`/api/users/${id}`, { isActive: false })
  await page.reload()
  const dialog = page.getByRole('dialog', { name: 'Rotate the keys of Grace' })
  await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toEqual(['deploy'])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).search).toBe('')
})
