import { isReservedUsername } from '../../domain/people.ts'
import { hashOf } from '../../domain/secret.ts'
import { invalidCredential, inviteInvalid, usernameTaken, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { InviteRow } from '../../repositories/people/invites.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { InviteAcceptance, InvitePasskey } from '../../schemas/invite.ts'
import type { PasskeyCreationOptions, PasskeyRegistration } from '../../schemas/passkey.ts'
import type { AccessService } from '../access.ts'
import { activityRow, actorOfUser } from '../activity/row.ts'
import { type OpenedSession, openSessionOf } from '../sessions.ts'
import { missing } from './invites.ts'
import { mayManagePeople } from './managers.ts'
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
  const { repos, access, clock, randomBytes, hashes, passwords, challenges } = deps
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
      const bound = repos.within(everywhere)
      const invite = await bound.invites.findBySecret(hashOf(secret))
      if (!invite) throw inviteInvalid()
      const { userId } = invite
      const holder = await holderOf(bound, { invite, chosen })
      const purpose = { name: 'invite', inviteId: invite.id, personId: holder.id } as const
      return challenges.beginCreation(origin, { holder, userId, purpose })
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
      const hash = hashOf(secret)
      // Before the password is hashed, which takes a while: everybody can send this.
      const found = await repos.within(everywhere).invites.findBySecret(hash)
      if (!found) throw inviteInvalid()
      const names = found.userId === null ? namesOf(chosen, found) : refuseNames(chosen)
      const passwordHash = password && (await hashes.hash(password))
      const created = credential && (await createdFor(found, { credential, token }))
      const opened = await repos.within(everywhere).transaction(async (repos) => {
        // In the order of a deactivation, which locks the person before the invites.
        const person = found.userId === null ? undefined : await repos.users.findForUpdate(found.userId)
        const invite = await repos.invites.take(hash)
        if (!invite || !(await mayManagePeople(repos, inviterOf(invite)))) throw inviteInvalid()
        const id = created?.purpose.personId ?? clock.newId(clock.now())
        const user = names ? await join(repos, { id, invite, names }) : await recover(repos, person)
        await log(repos, { user, ...(names ? joined(user) : recovered(passwordHash)) })
        if (passwordHash) await repos.users.setPassword(user.id, passwordHash)
        // Somebody else may know the one that was lost.
        else await repos.users.deletePassword(user.id)
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
  async function holderOf(
    repos: Pick<BoundRepositories, 'users'>,
    { invite, chosen }: { invite: InviteRow; chosen: Partial<Names> },
  ): Promise<Names & { id: string }> {
    if (invite.userId !== null) {
      refuseNames(chosen)
      const person = await repos.users.find(invite.userId)
      if (!person?.isActive) throw inviteInvalid()
      return person
    }
    const names = namesOf(chosen, invite)
    if (await repos.users.findByUsername(names.username)) throw usernameTaken(names.username)
    return { id: clock.newId(clock.now()), ...names }
  }

  /** @throws validation_failed unless the browser created the passkey for this invite */
  async function createdFor(invite: InviteRow, { credential, token }: Created) {
    const path = '/passkey'
    const created = await challenges.complete({ purpose: 'invite', credential, token, path })
    if (created.purpose.inviteId !== invite.id) throw invalidCredential(path)
    return created
  }

  /** Creates the person who was invited. */
  async function join(repos: BoundRepositories, { id, invite, names }: Joining): Promise<UserRow> {
    // Casts: the database requires a role of an invite without a person.
    const role = invite.role as UserRow['role']
    const now = clock.now()
    const { email, projectIds } = invite
    // One may have been deleted in the moment in which the invite expired.
    for (const id of projectIds ?? []) if (!(await repos.projects.findForShare(id))) throw inviteInvalid()
    const user: UserRow = {
      id,
      ...names,
      email,
      role,
      projectIds,
      isActive: true,
      lastSeenAt: null,
      createdAt: now,
    }
    await repos.users.insert(user)
    return user
  }

  /** Ends what somebody may have opened or made with the old password of a person, who is locked. */
  async function recover(repos: BoundRepositories, user: UserRow | undefined): Promise<UserRow> {
    if (!user?.isActive) throw inviteInvalid()
    await repos.sessions.deleteOf({ userId: user.id })
    await repos.keys.revokeOfUser(user.id, clock.now())
    await repos.invites.deleteOfUser(user.id)
    await repos.signInAttempts.deleteOfUser(user.id)
    return user
  }

  async function log(
    repos: BoundRepositories,
    { type, user: { id, username, name }, metadata }: { type: string; user: UserRow; metadata: object },
  ): Promise<void> {
    const row = {
      now: clock.now(),
      type,
      actor: actorOfUser({ id, name }),
      metadata: { userId: id, username, ...metadata },
    }
    await repos.activity.insert([activityRow(clock, row)])
  }
}

const joined = ({ role, projectIds }: UserRow) => ({
  type: 'person.created',
  metadata: { role, projectIds },
})

const recovered = (passwordHash: string | undefined) => ({
  type: passwordHash ? 'person.password_changed' : 'person.password_removed',
  metadata: {},
})

const inviterOf = ({ invitedByType: type, invitedById: id }: InviteRow) => ({ type, id })

interface Names {
  username: string
  name: string
}

interface Joining {
  /** Of the person. */
  id: string
  invite: InviteRow
  names: Names
}

/** @throws validation_failed unless it is either a password or a passkey */
function requireOneOf({ password, credential }: { password?: unknown; credential?: unknown }): void {
  if ((password === undefined) !== (credential === undefined)) return
  if (password === undefined) throw missing({ password })
  const message = 'must not be set together with password'
  throw validationFailed([{ path: '/passkey', code: 'not_allowed', message }])
}

/** @throws validation_failed, username_taken for one that is reserved */
function namesOf({ username, name }: Partial<Names>, invite: InviteRow): Names {
  if (username === undefined) throw missing({ username })
  if (isReservedUsername(username)) throw usernameTaken(username)
  return { username, name: name ?? invite.name ?? username }
}

/** @throws validation_failed */
function refuseNames(names: Partial<Names>): undefined {
  const given = Object.keys(names)
  if (given.length === 0) return undefined
  throw validationFailed(
    given.map((member) => ({
      path: `/${member}`,
      code: 'not_allowed',
      message: 'must not be set: the invite is for a new password',
    })),
  )
}
