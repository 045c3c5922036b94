import { hashOf } from '../../domain/secret.ts'
import { invalidCredential, inviteInvalid, usernameTaken, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { InviteAcceptance, InvitePasskey } from '../../schemas/invite.ts'
import type { PasskeyCreationOptions, PasskeyRegistration } from '../../schemas/passkey.ts'
import type { AccessService } from '../access.ts'
import { type OpenedSession, openSessionOf } from '../sessions.ts'
import type { FoundInvite, InviteRedemption, Names } from './invite-redemption.ts'
import { missing } from './invites.ts'
import type { Begun, PasskeyChallenges } from './passkey-challenges.ts'
import { addPasskeyOf } from './passkeys.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { PasswordHashes } from './passwords.ts'

interface AcceptanceDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
  hashes: PasswordHashes
  passwords: Pick<PasswordSignIn, 'requireOn' | 'browserOf'>
  challenges: Pick<PasskeyChallenges, 'beginCreation' | 'complete'>
  redemption: InviteRedemption
}

/** What the request of somebody who accepts has beside its body. */
interface Accepting {
  userAgent: string | undefined
  /** The cookie of the challenge of a passkey. */
  token: string | undefined
}

/** A passkey that a browser created. */
interface Created extends Pick<Accepting, 'token'> {
  credential: PasskeyRegistration
}

/** Passkeys are named under Account; this one comes before. */
const NAME_OF_FIRST = 'Passkey of the invite'

/** Lets in who has the secret of an invite. */
export function inviteAcceptance(deps: AcceptanceDeps) {
  const { repos, access, clock, randomBytes, hashes, passwords, challenges, redemption } = deps
  const openSession = openSessionOf({ clock, randomBytes })
  const addPasskey = addPasskeyOf(clock)

  return {
    /**
     * Begins to create a passkey that accepts an invite.
     * @throws invite_invalid, username_taken, validation_failed, public_url_missing
     */
    async beginPasskey(
      { secret, ...chosen }: InvitePasskey,
      origin: string,
    ): Promise<Begun<PasskeyCreationOptions>> {
      const invite = await redemption.find(hashOf(secret), chosen)
      const holder = await holderOf(invite)
      const purpose = { name: 'invite', inviteId: invite.id, personId: holder.id } as const
      return challenges.beginCreation(origin, { holder, userId: invite.userId, purpose })
    },

    /**
     * Accepts an invite and opens a session. Of several who accept it at once, one succeeds.
     * @throws invite_invalid, username_taken, validation_failed, rate_limited
     */
    async accept(
      { secret, password, passkey: credential, ...chosen }: InviteAcceptance,
      { userAgent, token }: Accepting,
    ): Promise<OpenedSession & { browser?: string }> {
      requireOneOf({ password, credential })
      if (password !== undefined) passwords.requireOn()
      // Before the password is hashed, which takes a while: everybody can send this.
      const found = await redemption.find(hashOf(secret), chosen)
      const passwordHash = password && (await hashes.hash(password))
      const created = credential && (await createdFor(found, { credential, token }))
      const opened = await repos.within(everywhere).transaction(async (repos) => {
        const id = created?.purpose.personId
        const user = await redemption.redeem(repos, { invite: found, id, passwordHash })
        if (created) await addPasskey(repos, { user, name: NAME_OF_FIRST, passkey: created.passkey })
        return {
          ...(await openSession(repos, { user, userAgent })),
          ...(passwordHash && { browser: passwords.browserOf(passwordHash) }),
        }
      })
      access.forget()
      return opened
    },
  }

  /** Who accepts: checked before the browser creates a passkey, which then stays on the device. */
  async function holderOf({ userId, names }: FoundInvite): Promise<Names & { id: string }> {
    const { users } = repos.within(everywhere)
    if (names) {
      if (await users.findByUsername(names.username)) throw usernameTaken(names.username)
      return { id: clock.newId(clock.now()), ...names }
    }
    const person = await users.find(userId ?? '')
    if (!person?.isActive) throw inviteInvalid()
    return person
  }

  /** @throws validation_failed unless the browser created the passkey for this invite */
  async function createdFor(invite: FoundInvite, { credential, token }: Created) {
    const path = '/passkey'
    const created = await challenges.complete({ purpose: 'invite', credential, token, path })
    if (created.purpose.inviteId !== invite.id) throw invalidCredential(path)
    return created
  }
}

/** @throws validation_failed unless it is either a password or a passkey */
function requireOneOf({ password, credential }: { password?: unknown; credential?: unknown }): void {
  if ((password === undefined) !== (credential === undefined)) return
  if (password === undefined) throw missing({ password })
  const message = 'must not be set together with password'
  throw validationFailed([{ path: '/passkey', code: 'not_allowed', message }])
}
