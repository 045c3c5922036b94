import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import type { Page } from '../tools/playwright.ts'
import { expectNone, testWith } from './support/browser.ts'
import { addPasskey, passkeys, signInByPasskey, withAuthenticator } from './support/passkeys.ts'
import { field, givenPerson, openAs, PASSWORD, signOut } from './support/people.ts'

/** At localhost: browsers allow no passkeys at an IP address. */
const test = testWith(async () => {
  const app = await startApp()
  return { ...app, url: app.url.replace('127.0.0.1', 'localhost') }
})

async function remove(page: Page, name: string) {
  await page.getByRole('button', { name: `Remove ${name}` }).click()
  const dialog = page.getByRole('dialog', { name: `Remove “${name}”?` })
  await dialog.getByRole('button', { name: 'Remove passkey' }).click()
  return dialog
}

describe('a passkey', () => {
  test('is added under Account, signs in, and is removed', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await openAs(app, 'ada', '/settings/account')
    const authenticator = await withAuthenticator(page)
    await authenticator.agree(false)
    const dialog = await addPasskey(page, 'Laptop')
    await dialog.getByRole('button', { name: 'Add passkey' }).waitFor()
    await authenticator.agree(true)
    await expectNone(page, dialog.getByRole('alert'))
    await dialog.getByRole('button', { name: 'Add passkey' }).click()
    await passkeys(page).filter({ hasText: 'never used' }).waitFor()
    const again = await addPasskey(page, 'Laptop again')
    await again.getByText('This device already has a passkey for your account.').waitFor()
    await again.getByRole('button', { name: 'Discard' }).click()

    await signOut(page)
    await authenticator.agree(false)
    await signInByPasskey(page)
    await page.waitForTimeout(1_000)
    await authenticator.agree(true)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await signInByPasskey(page)
    await page.getByRole('button', { name: /Ada.*account menu/ }).waitFor()
    await page.goto(`${app.service.url}/settings/account`)
    await passkeys(page).filter({ hasText: 'last used' }).waitFor()
    await remove(page, 'Laptop')
    await passkeys(page).waitFor({ state: 'detached' })
    await signOut(page)
    await signInByPasskey(page)
    await page.getByText("Couldn't sign in with this passkey.").waitFor()
  })

  test('that is the last way to sign in stays, and says why', async ({ app }) => {
    const { id } = await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await openAs(app, 'ada', '/settings/account')
    await withAuthenticator(page)
    await addPasskey(page, 'Laptop')
    await passkeys(page).waitFor()
    await app.service.query('DELETE FROM passwords WHERE user_id = $1', [id])
    const dialog = await remove(page, 'Laptop')
    await dialog.getByText(/You have no other way to sign in/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => passkeys(page).count()).toBe(1)
  })

  test('signs in again where the last sign-in is too long ago', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await openAs(app, 'ada', '/settings/account')
    await withAuthenticator(page)
    await addPasskey(page, 'Laptop')
    await passkeys(page).waitFor()
    await app.service.query(`UPDATE sessions SET created_at = created_at - interval '11 minutes'`)
    app.service.service.access.forget()
    await remove(page, 'Laptop')
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await passkeys(page).waitFor({ state: 'detached' })
  })
})

describe('an invite', () => {
  test('is accepted with a passkey, which signs in afterwards', async ({ app }) => {
    const { body } = await app.service.post('/api/invites', { name: 'Grace', role: 'member' })
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await app.open(`/invite#${body.secret}`, { key: null })
    const authenticator = await withAuthenticator(page)
    const create = page.getByRole('button', { name: 'Create account with a passkey' })
    await field(page, 'Username').fill('ada')
    await create.click()
    await page.getByText(/is taken/).waitFor()
    await field(page, 'Username').fill('grace')
    await authenticator.agree(false)
    await create.click()
    await page.waitForTimeout(1_000)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await authenticator.agree(true)
    await create.click()
    await page.getByRole('button', { name: /Grace.*account menu/ }).waitFor()
    await signOut(page)
    await signInByPasskey(page)
    await page.getByRole('button', { name: /Grace.*account menu/ }).waitFor()
  })

  test('keeps what somebody types for itself, until it is accepted', async ({ app }) => {
    const invite = async (name: string) => {
      const { body } = await app.service.post('/api/invites', { name, role: 'member' })
      return `/invite#${body.secret}`
    }
    const [first, second] = [await invite('Grace'), await invite('Edsger')]
    const page = await app.open(first, { key: null })
    await withAuthenticator(page)
    await field(page, 'Username').fill('grace')
    await page.goto(`${app.service.url}${second}`)
    await expect.poll(() => field(page, 'Username').inputValue()).toBe('')
    await page.goto(`${app.service.url}${first}`)
    await expect.poll(() => field(page, 'Username').inputValue()).toBe('grace')
    await page.getByRole('button', { name: 'Create account with a passkey' }).click()
    await page.getByRole('button', { name: /Grace.*account menu/ }).waitFor()
    const stored = await page.evaluate<string[]>('Object.keys(sessionStorage)')
    expect(stored.filter((key) => key.includes('invited-person'))).toEqual([])
  })

  test('for a new password is accepted with a passkey', async ({ app }) => {
    const { id } = await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const { body } = await app.service.post('/api/invites', { userId: id })
    const page = await app.open(`/new-password#${body.secret}`, { key: null })
    await withAuthenticator(page)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByRole('button', { name: /Ada.*account menu/ }).waitFor()
    const old = { username: 'ada', password: PASSWORD }
    expect((await app.service.post('/api/sessions', old, { key: null })).status).toBe(401)
  })
})

describe('at an IP address', () => {
  test('no passkey is offered, and Account says what to set', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await app.open('/sign-in', { key: null })
    await page.goto(`${app.service.url.replace('localhost', '127.0.0.1')}/sign-in?next=/settings/account`)
    await field(page, 'Username').fill('ada')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor({ state: 'detached' })
    await field(page, 'Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('PUBLIC_URL').waitFor()
    await expectNone(page, page.getByRole('button', { name: 'Add passkey' }))
  })
})
