import { describe, expect } from 'vitest'
import type { Page } from '../tools/playwright.ts'
import { delayRequests, expectNone, test } from './support/browser.ts'
import {
  field,
  givenPerson,
  linkIn,
  openAs,
  PASSWORD,
  pickAction,
  signInByPassword,
  signOut,
} from './support/people.ts'

const account = (page: Page) => page.getByRole('button', { name: /account menu/ })

describe('the first owner', () => {
  test('is created from the session of a key, and continues as a person', async ({ app }) => {
    const page = await app.open('/tasks')
    await page.getByRole('button', { name: 'Create your account' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create your account' })
    await field(dialog, 'Username').fill('Ada')
    await field(dialog, 'Name').fill('Ada Lovelace')
    await field(dialog, 'Password').fill('too short')
    await dialog.getByRole('button', { name: 'Create account' }).click()
    await dialog.getByText('Use at least 12 characters.').waitFor()
    await field(dialog, 'Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('button', { name: /Ada Lovelace.*owner/ }).waitFor()
    await page.getByRole('heading', { name: 'All tasks' }).waitFor()
    const { body } = await app.service.get('/api/users')
    expect(body.data).toMatchObject([{ username: 'ada', name: 'Ada Lovelace', role: 'owner' }])
    expect((await app.service.get('/api/invites')).body.data).toEqual([])
  })

  test('is not asked for again in a browser that hid it, nor when there is one', async ({ app }) => {
    const page = await app.open('/tasks')
    const asked = page.getByRole('button', { name: 'Create your account' })
    await page.getByRole('button', { name: 'Hide this' }).click()
    await asked.waitFor({ state: 'detached' })
    await page.reload()
    await page.waitForTimeout(2_500)
    await expectNone(page, asked)
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const other = await app.open('/tasks')
    await other.waitForResponse(/api\/users/)
    await other.waitForTimeout(500)
    await expectNone(other, other.getByRole('button', { name: 'Create your account' }))
  })
})

describe('a person', () => {
  test('is invited by a link, demoted and deactivated, and sees each at once', async ({ app }) => {
    const project = await app.service.given.project({ name: 'Mobile app' })
    await app.service.post('/api/tasks', { title: 'In the app', listId: project.inbox.id })
    await app.service.post('/api/tasks', { title: 'Elsewhere' })
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const owner = await openAs(app, 'ada', '/settings/people')
    await owner.getByRole('button', { name: 'Invite a person' }).click()
    const dialog = owner.getByRole('dialog', { name: 'Invite a person' })
    await field(dialog, 'Name').fill('Grace Hopper')
    await dialog.getByRole('button', { name: 'Create invite' }).click()
    const link = await linkIn(owner, 'Invite for Grace Hopper')
    await owner.getByRole('list', { name: 'Open invites' }).getByText('Grace Hopper').waitFor()

    expect(link).toContain(`${app.service.url}/invite#`)
    const grace = await app.open(link.replace(app.service.url, ''), { key: null })
    await expect.poll(() => grace.url()).toBe(`${app.service.url}/invite`)
    await field(grace, 'Username').fill('ada')
    await field(grace, 'Password').fill(PASSWORD)
    await grace.getByRole('button', { name: 'Create account' }).click()
    await grace.getByText(/already taken|is taken/).waitFor()
    await field(grace, 'Username').fill('grace')
    const stream = grace.waitForResponse((response) => response.url().includes('/api/stream'))
    await grace.getByRole('button', { name: 'Create account' }).click()
    await grace.getByRole('link', { name: 'Elsewhere' }).waitFor()
    await grace.getByRole('button', { name: /Grace Hopper.*member/ }).waitFor()
    await grace.getByRole('link', { name: 'All tasks' }).click()
    await grace.getByRole('button', { name: 'New task' }).waitFor()
    await stream

    await owner.getByRole('list', { name: 'Open invites' }).waitFor({ state: 'detached' })
    await pickAction(owner, 'Grace Hopper', 'Change role and projects')
    const access = owner.getByRole('dialog', { name: 'Access of Grace Hopper' })
    await access.getByRole('combobox', { name: 'Role' }).click()
    await owner.getByRole('option', { name: 'Viewer' }).click()
    await owner.getByRole('option').first().waitFor({ state: 'hidden' })
    await access.getByRole('switch', { name: 'All projects' }).uncheck({ force: true })
    await access.getByRole('combobox', { name: 'Projects' }).click()
    await owner.getByRole('option', { name: 'Mobile app' }).click()
    await owner.keyboard.press('Tab')
    await access.getByRole('button', { name: 'Save access' }).click()
    await access.waitFor({ state: 'detached' })
    await grace.getByRole('button', { name: /Grace Hopper.*viewer/ }).waitFor({ timeout: 5_000 })
    await grace.getByRole('button', { name: 'New task' }).waitFor({ state: 'detached' })
    await grace.getByRole('link', { name: 'Elsewhere' }).waitFor({ state: 'detached' })
    await grace.getByRole('link', { name: 'In the app' }).waitFor()
    await owner.getByRole('listitem').filter({ hasText: 'Viewer' }).getByText('Mobile app').waitFor()

    await pickAction(owner, 'Grace Hopper', 'Deactivate')
    await owner.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await grace.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ timeout: 5_000 })
    await owner.getByRole('listitem').filter({ hasText: 'Deactivated' }).waitFor()
    await pickAction(owner, 'Grace Hopper', 'Reactivate')
    await owner.getByRole('listitem').filter({ hasText: 'Deactivated' }).waitFor({ state: 'detached' })
    const again = grace.getByRole('dialog', { name: 'Your session has ended' })
    await expect.poll(() => field(again, 'Username').inputValue()).toBe('grace')
    await field(again, 'Password').fill(PASSWORD)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'detached' })
  })

  test('is active again once the deactivation is undone', async ({ app }) => {
    const { id } = await givenPerson(app, { username: 'grace', name: 'Grace', role: 'member' })
    const page = await app.open('/settings/people')
    const isActive = async () =>
      (await app.service.get('/api/users')).body.data.find((user: { id: string }) => user.id === id).isActive
    const off = page.getByRole('listitem').filter({ hasText: 'Deactivated' })
    await pickAction(page, 'Grace', 'Deactivate')
    const dialog = page.getByRole('dialog', { name: 'Deactivate Grace?' })
    await dialog.getByText(/personal keys end for good/).waitFor()
    await dialog.getByRole('button', { name: 'Deactivate' }).click()
    await off.waitFor()
    expect(await isActive()).toBe(false)
    const toast = page.getByRole('alert').filter({ hasText: 'Grace is deactivated.' })
    await toast.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone: “Grace is deactivated”').waitFor()
    await off.waitFor({ state: 'detached' })
    expect(await isActive()).toBe(true)
  })

  test('who is deactivated leaves keys to rotate, and the last owner stays', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    await givenPerson(app, { username: 'grace', name: 'Grace', role: 'owner' })
    const grace = await openAs(app, 'grace', '/settings/keys')
    await grace.getByRole('button', { name: 'Create key' }).click()
    await grace.getByRole('dialog').getByLabel('Name').fill('deploy')
    await grace.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await grace.getByRole('button', { name: "I've stored it" }).waitFor()

    const ada = await openAs(app, 'ada', '/settings/people')
    await pickAction(ada, 'Grace', 'Deactivate')
    await ada.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    const keys = ada.getByRole('dialog', { name: 'Rotate the keys of Grace' })
    await keys.getByRole('listitem').filter({ hasText: 'deploy' }).waitFor()
    await keys.getByRole('button', { name: 'Close' }).last().click()
    await ada
      .getByRole('alert')
      .filter({ hasText: 'Grace is deactivated.' })
      .getByRole('button', { name: 'Undo' })
      .waitFor()
    await pickAction(ada, 'Ada', 'Deactivate')
    const refused = ada.getByRole('dialog', { name: 'Deactivate Ada?' })
    await refused.getByRole('button', { name: 'Deactivate' }).click()
    await refused.getByText(/last active owner/).waitFor()
  })

  test('signs in with a password, and is told when it is wrong', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await app.open('/trash', { key: null })
    await signInByPassword(page, 'ada', 'not the password')
    await page.getByText('The username or the password is wrong.').waitFor()
    await signInByPassword(page, 'ada')
    await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor()
    await page.goto(`${app.service.url}/settings/people`)
    await page.getByText('This page is for owners.').waitFor()
  })

  test('who guesses too often is told when to try again', async ({ app }) => {
    const page = await app.open('/sign-in', { key: null })
    const guess = { username: 'ada', password: 'not the password' }
    for (let count = 0; count < 10; count++) await app.service.post('/api/sessions', guess, { key: null })
    await signInByPassword(page, 'ada')
    await page.getByText(/Try again in \d+ seconds?/).waitFor()
  })

  test('gets a new password by a link, which works once', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const admin = await app.open('/settings/people')
    await pickAction(admin, 'Ada', 'New password')
    const link = await linkIn(admin, 'New password for Ada')
    const path = link.replace(app.service.url, '')
    expect(path).toContain('/new-password#')
    const page = await app.open(path, { key: null })
    await expect.poll(() => page.url()).toBe(`${app.service.url}/new-password`)
    await field(page, 'New password').fill('another long password')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('heading', { name: 'Triage', exact: true }).waitFor()
    await signOut(page)
    await signInByPassword(page, 'ada', 'another long password')
    await page.getByRole('heading', { name: 'Triage', exact: true }).waitFor()

    const late = await app.open(path, { key: null })
    await field(late, 'New password').fill('another long password')
    await late.getByRole('button', { name: 'Set password' }).click()
    await late.getByText('Ask for a new one.').waitFor()
  })

  test('changes name and password on the account page, after signing in again', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const [page, other] = [await openAs(app, 'ada', '/tasks'), await openAs(app, 'ada', '/tasks')]
    await account(page).click()
    await page.getByRole('menuitem', { name: 'Account' }).click()
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    await field(page, 'Name').fill('Ada Lovelace')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: /Ada Lovelace.*account menu/ }).waitFor()
    await expect
      .poll(() => page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').count())
      .toBe(3)

    await app.service.query(`UPDATE sessions SET created_at = created_at - interval '11 minutes'`)
    app.service.service.access.forget()
    await field(page, 'New password').fill('another long password')
    await page.getByRole('button', { name: 'Change password' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await field(again, 'Password').fill('not the password')
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByText('The username or the password is wrong.').waitFor()
    await field(again, 'Password').fill(PASSWORD)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Your password is changed.').waitFor()
    await expect
      .poll(() => page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').count())
      .toBe(1)
    await other.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await expectNone(page, page.getByRole('dialog', { name: 'Your session has ended' }))
  })
  test('keeps what is typed on the account page while it is saved', async ({ app }) => {
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    const page = await openAs(app, 'ada', '/settings/account')
    await field(page, 'Name').fill('Ada L')
    const release = await delayRequests(page, { url: '**/api/me', method: 'PATCH' })
    await page.getByRole('button', { name: 'Save' }).click()
    await field(page, 'Name').press('End')
    await page.keyboard.type('ovelace')
    await field(page, 'Email').fill('ada@example.com')
    release()
    await page.getByText('Saved').waitFor()
    await expect.poll(() => field(page, 'Name').inputValue()).toBe('Ada Lovelace')
    await expect.poll(() => field(page, 'Email').inputValue()).toBe('ada@example.com')
    await expectNone(page, page.getByText('Someone else changed'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
    const { body } = await app.service.get('/api/users')
    expect(body.data).toContainEqual(
      expect.objectContaining({ name: 'Ada Lovelace', email: 'ada@example.com' }),
    )
  })
})
