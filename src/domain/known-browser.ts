import { createHmac, timingSafeEqual } from 'node:crypto'

/*
 * What a browser keeps that has signed in with the present password, or has set it: its guesses count apart from those of
 * everybody else. Signed with the stored hash of the password, which nobody else has and a new password replaces, so nothing
 * is stored for it.
 */

const SEPARATOR = '.'

export const browserToken = (id: string, passwordHash: string) =>
  [id, signatureOf(id, passwordHash)].join(SEPARATOR)

/** Whether it looks like one: others need not be compared. */
export const isBrowserToken = (text: string) => /^[\w-]{22}\.[\w-]{43}$/.test(text)

/** The id in the token; undefined if it was not made with this password. */
export function knownBrowser(token: string, passwordHash: string): string | undefined {
  const [id = '', signature = ''] = token.split(SEPARATOR)
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(id, passwordHash))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined
}

const signatureOf = (id: string, passwordHash: string) =>
  createHmac('sha256', passwordHash).update(id).digest('base64url')
