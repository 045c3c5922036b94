import { browserToken, knownBrowser } from '../../domain/known-browser.ts'
import { invalidPassword, rateLimited, validationFailed } from '../../errors/index.ts'
import { minuteLimit } from '../../lib/minute-limit.ts'
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
      const found = await credentials.users.findWithPassword(username)
      const known = found && knownBrowser(browser, found.passwordHash)
      const name = known === undefined ? username : `${username} ${known}`
      const limits = [ofName.take(name), known === undefined ? ofAddress.take(address) : undefined]
      const exceeded = limits.filter((limit) => limit?.isExceeded)
      if (exceeded.length > 0) {
        throw rateLimited(Math.max(...exceeded.map((limit) => limit?.resetSeconds ?? 0)))
      }
      if (!(await hashes.matches(password, found?.passwordHash)) || !found) throw invalidPassword()
      // Only wrong ones count.
      ofName.take(name, -1)
      if (known === undefined) ofAddress.take(address, -1)
      const id = known ?? randomBytes(16).toString('base64url')
      return { user: found.user, browser: browserToken(id, found.passwordHash) }
    },

    requireOn,
  }

  /** @throws validation_failed */
  function requireOn(): void {
    if (isOn) return
    throw validationFailed([
      { path: '/password', code: 'not_allowed', message: 'is not supported here: PASSWORD_SIGN_IN is off' },
    ])
  }
}
