import type { Role } from '../../../src/schemas/user.ts'
import { CLIENT } from '../../support/oidc-provider.ts'
import type { Locator, Page } from '../../tools/playwright.ts'
import type { AppInBrowser } from './browser.ts'

export const PASSWORD = 'correct horse battery'

interface GivenPerson {
  username: string
  name: string
  role: Role
  projectIds?: string[]
}

/** A person who has accepted an invite. */
export async function givenPerson(
  { service }: Pick<AppInBrowser, 'service'>,
  { username, ...invited }: GivenPerson,
) {
  const { body: invite } = await service.post('/api/invites', invited)
  const acceptance = { secret: invite.secret, username, password: PASSWORD }
  const { body: session } = await service.post('/api/invites/accept', acceptance, { key: null })
  return { id: session.userId as string, username, name: invited.name }
}

/** A text field. The label of a password is also part of that of its button. */
export const field = (where: Page | Locator, name: string) =>
  where.getByRole('textbox', { name, exact: true })

/** Signs in on the sign-in page. */
export async function signInByPassword(page: Page, username: string, password = PASSWORD): Promise<void> {
  await field(page, 'Username').fill(username)
  await field(page, 'Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Opens a page as a person, in a new browser. */
export async function openAs(app: AppInBrowser, username: string, path: string): Promise<Page> {
  const page = await app.open(`/sign-in?next=${path}`, { key: null })
  const stream = page.waitForResponse((response) => response.url().includes('/api/stream'))
  await signInByPassword(page, username)
  await stream
  return page
}

/** Signs out in the menu of the account. */
export async function signOut(page: Page) {
  await page.getByRole('button', { name: /account menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await page.getByRole('heading', { name: 'Sign in to Inlet' }).waitFor()
}

/** Picks an item of the menu of a person. */
export async function pickAction(page: Page, person: string, item: string) {
  await page.getByRole('button', { name: `Actions for ${person}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** The link that a dialog shows once. */
export async function linkIn(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title })
  const link = await dialog.locator('pre').innerText()
  await dialog.getByRole('button', { name: "I've copied it" }).click()
  await dialog.waitFor({ state: 'detached' })
  return link
}

/** Adds a provider in its dialog, at which people of acme.com may sign in for the first time. Returns its redirect URL. */
export async function addProviderInDialog(
  page: Page,
  { name, issuer }: { name: string; issuer: string },
): Promise<string> {
  await page.getByRole('button', { name: 'Add a provider' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a provider' })
  await field(dialog, 'Name').fill(name)
  await field(dialog, 'Issuer').fill(issuer)
  await field(dialog, 'Client ID').fill(CLIENT.clientId)
  await field(dialog, 'Client secret').fill(CLIENT.clientSecret)
  await dialog.getByRole('switch', { name: 'Create people at their first sign-in' }).check({ force: true })
  await dialog.getByRole('combobox', { name: 'Email domains' }).fill('acme.com')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Add provider' }).click()
  await dialog.waitFor({ state: 'detached' })
  return page.locator('pre').innerText()
}
