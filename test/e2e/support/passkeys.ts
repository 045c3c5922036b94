import type { Page } from '../../tools/playwright.ts'
import { field } from './people.ts'

/** Gives the browser of a page an authenticator, whose user agrees to everything until told otherwise. */
export async function withAuthenticator(page: Page) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    agree: (isUserVerified: boolean) =>
      client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

export const passkeys = (page: Page) => page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem')

/** Adds a passkey on the account page. */
export async function addPasskey(page: Page, name: string) {
  await page.getByRole('button', { name: 'Add passkey' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
  await field(dialog, 'Name').fill(name)
  await dialog.getByRole('button', { name: 'Add passkey' }).click()
  return dialog
}

export const signInByPasskey = (page: Page) =>
  page.getByRole('button', { name: 'Sign in with a passkey' }).click()
