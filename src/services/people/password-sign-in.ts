import { browserToken, isBrowserToken, knownBrowser } from '../../domain/known-browser.ts'
import { invalidPassword, rateLimited, validationFailed } from '../../errors/index.ts'
import { type MinuteLimit, minuteLimit } from '../../lib/minute-limit.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { PasswordHashes } from './passwords.ts'

/** Wrong passwords for one username in a minute. The wait for a right one is a minute at most. */
const MAX_WRONG_OF_NAME = 10

interface PasswordSignInDeps {
  credentials: Pick<Repositories['credentials'], 'users'>
  hashes: PasswordHashes
  randomBytes(size: number): Buffer
  /** Wrong passwords from one address in a minute; 0 for no limit. */
  maxWrongPasswords: number
  /** Whether people can sign in with a password. */
  isOn: boolean
}

interface Checked {
  user: UserRow
  /** What the password was compared with. */
  passwordHash: string
  browser: string
}

interface PasswordAttempt {
  username: string
  password: string
  /** Where the request comes from. */
  address: string
  /** What the browser got when it signed in before. */
  browser?: string | undefined
}

export type PasswordSignIn = ReturnType<typeof passwordSignIn>

/**
 * Signs people in with their passwords. Guessing is limited by name and by address, also while guesses run at once. A
 * browser that has signed in before counts apart: strangers cannot keep its person out.
 */
export function passwordSignIn({
  credentials,
  hashes,
  randomBytes,
  maxWrongPasswords,
  isOn,
}: PasswordSignInDeps) {
  const ofName = minuteLimit(MAX_WRONG_OF_NAME)
  const ofAddress = minuteLimit(maxWrongPasswords)

  return {
    /**
     * Returns the person with this username and password, and what the browser keeps.
     * @throws invalid_credentials, the same for an unknown name; rate_limited; validation_failed if it is off
     */
    async check({ username: given, password, address, browser }: PasswordAttempt): Promise<Checked> {
      requireOn()
      const username = given.toLowerCase()
      // The address first: one that guesses much costs neither memory nor a statement.
      const isUnknown = browser === undefined || !isBrowserToken(browser)
      if (isUnknown) refuseBeyond(ofAddress.take(address))
      const found = await credentials.users.findWithPassword(username)
      const known = isUnknown ? undefined : found && knownBrowser(browser, found.passwordHash)
      if (!isUnknown && known === undefined) refuseBeyond(ofAddress.take(address))
      const name = known === undefined ? username : `${username} ${known}`
      refuseBeyond(ofName.take(name))
      const giveBack = () => {
        ofName.giveBack(name)
        if (known === undefined) ofAddress.giveBack(address)
      }
      const isRight = await hashes.matches(password, found?.passwordHash).catch((error) => {
        // Nothing was compared.
        giveBack()
        throw error
      })
      if (!isRight || !found) throw invalidPassword()
      giveBack()
      return { ...found, browser: browserOf(found.passwordHash, known) }
    },

    browserOf,
    requireOn,
    isOn,
  }

  /** What a browser keeps that has signed in. */
  function browserOf(passwordHash: string, known?: string): string {
    return browserToken(known ?? randomBytes(16).toString('base64url'), passwordHash)
  }

  /** @throws validation_failed */
  function requireOn(path = '/password'): void {
    if (isOn) return
    throw validationFailed([
      { path, code: 'not_allowed', message: 'is not supported here: PASSWORD_SIGN_IN is off' },
    ])
  }
}

/** @throws rate_limited */
function refuseBeyond(allowance: ReturnType<MinuteLimit['take']>): void {
  if (allowance?.isExceeded) throw rateLimited(allowance.resetSeconds)
}
