import { isReservedUsername } from '../../domain/people.ts'
import { inviteInvalid, usernameTaken, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { InviteRow } from '../../repositories/people/invites.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import { activityRow, actorOfUser } from '../activity/row.ts'
import { endAccess } from './end-access.ts'
import { missing } from './invites.ts'
import { mayManagePeople } from './managers.ts'

interface RedemptionDeps {
  repos: Repositories
  clock: Clock
}

export interface Names {
  username: string
  name: string
}

/** An invite that can be accepted, as it was found. */
export interface FoundInvite {
  id: string
  hash: string
  /** The person who lost the password; null for somebody new. */
  userId: string | null
  /** Of somebody new. */
  names: Names | undefined
}

interface Accepted {
  invite: FoundInvite
  /** Of somebody new, if it was promised before. */
  id?: string | undefined
  /** Without one, the person signs in in another way. */
  passwordHash?: string | undefined
}

export type InviteRedemption = ReturnType<typeof inviteRedemption>

/** What all ways to accept an invite have in common. */
export function inviteRedemption({ repos, clock }: RedemptionDeps) {
  return {
    /**
     * The invite with this hash of a secret, with the names of somebody new.
     * @throws invite_invalid, username_taken for one that is reserved, validation_failed
     */
    async find(hash: string, chosen: Partial<Names>): Promise<FoundInvite> {
      const found = await repos.within(everywhere).invites.findBySecret(hash)
      if (!found) throw inviteInvalid()
      const { id, userId } = found
      return { id, hash, userId, names: userId === null ? namesOf(chosen, found) : refuseNames(chosen) }
    },

    /**
     * Uses an invite up: creates the person, or replaces what was lost. Of several who do it at once, one succeeds.
     * @throws invite_invalid, username_taken
     */
    async redeem(
      repos: BoundRepositories,
      { invite: { hash, userId, names }, id = clock.newId(clock.now()), passwordHash }: Accepted,
    ): Promise<UserRow> {
      // In the order of a deactivation, which locks the person before the invites.
      const person = userId === null ? undefined : await repos.users.findForUpdate(userId)
      const invite = await repos.invites.take(hash)
      if (!invite || !(await mayManagePeople(repos, inviterOf(invite)))) throw inviteInvalid()
      const user = names ? await join(repos, { id, invite, names }) : await recover(repos, person)
      const { type, metadata } = names ? joined(user) : recovered(passwordHash)
      // Whoever made the invite had a part in it, and is recorded with the invite.
      await log(repos, { user, type, metadata: { inviteId: invite.id, ...metadata } })
      if (passwordHash) await repos.users.setPassword(user.id, passwordHash)
      // Somebody else may know the one that was lost.
      else await repos.users.deletePassword(user.id)
      return user
    },
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

  /**
   * Ends what somebody may have opened or invited with the old password of a person, who is locked. Passkeys and links to
   * identity providers stay, and are shown to the person.
   */
  async function recover(repos: BoundRepositories, user: UserRow | undefined): Promise<UserRow> {
    if (!user?.isActive) throw inviteInvalid()
    await endAccess(repos, { userId: user.id, now: clock.now() })
    await repos.invites.deleteOfUser(user.id)
    await repos.invites.deleteCreatedBy(user.id)
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

interface Joining {
  /** Of the person. */
  id: string
  invite: InviteRow
  names: Names
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
