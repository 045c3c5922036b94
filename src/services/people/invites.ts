import { orderById } from '../../domain/cursor.ts'
import type { ActorRef } from '../../domain/new-task.ts'
import type { Operations } from '../../domain/operation.ts'
import { isReservedUsername } from '../../domain/people.ts'
import { hashOf } from '../../domain/secret.ts'
import {
  inviteInvalid,
  inviteNotFound,
  signInAgain,
  userNotFound,
  usernameTaken,
  validationFailed,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { InviteRow } from '../../repositories/people/invites.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { Invite, InviteAcceptance, InviteWithSecret, NewInvite } from '../../schemas/invite.ts'
import type { AccessService, Caller } from '../access.ts'
import { activityRow, actorOf, actorOfUser, changeLog } from '../activity/row.ts'
import { readPage } from '../page.ts'
import { type OpenedSession, openSessionOf } from '../sessions.ts'
import { mayManagePeople } from './managers.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import type { PasswordHashes } from './passwords.ts'
import { MANAGING_PEOPLE, refuseReachOfOwner, requireProjects, storedReach } from './users.ts'

interface InvitesDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
  hashes: PasswordHashes
  passwords: Pick<PasswordSignIn, 'requireOn' | 'browserOf'>
}

export const inviteOperations = {
  create: MANAGING_PEOPLE,
  list: { scope: 'admin', isServiceWide: true },
  withdraw: MANAGING_PEOPLE,
} satisfies Operations<ReturnType<typeof invitesService>>

/** Invites: the only way in for somebody new, and for a person who has lost the password. */
export function invitesService(deps: InvitesDeps) {
  const { repos, access, clock, randomBytes, hashes, passwords } = deps
  const openSession = openSessionOf({ clock, randomBytes })
  const record = changeLog(clock)

  return {
    /**
     * Creates an invite. Its secret is only returned once.
     * @throws user_not_found, project_not_found, project_archived, validation_failed
     */
    async create(caller: Caller, input: NewInvite): Promise<InviteWithSecret> {
      const { principal, isRecentSignIn = false } = caller
      // Otherwise, a session that somebody left open would be enough to change the password.
      if (input.userId?.toLowerCase() === principal.id && !isRecentSignIn) throw signInAgain()
      return createAs(actorOf(caller), input)
    },
    createAs,

    /** Those that can be accepted, oldest first. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      return readPage({
        order: orderById('invites'),
        request,
        read: async (after, limit) =>
          (await repos.within(caller).invites.list({ after, limit })).map(toInvite),
      })
    },

    /** @throws invite_not_found */
    async withdraw(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const row = await repos.invites.delete(id)
        if (!row) throw inviteNotFound(id)
        await record(repos, { type: 'invite.withdrawn', caller, now: clock.now(), metadata: about(row) })
      })
    },

    /**
     * Accepts an invite and opens a session. Of several who accept it at once, one succeeds.
     * @throws invite_invalid, username_taken, validation_failed, rate_limited
     */
    async accept(
      { secret, password, ...chosen }: InviteAcceptance,
      userAgent: string | undefined,
    ): Promise<OpenedSession & { browser: string }> {
      passwords.requireOn()
      const hash = hashOf(secret)
      // Before the password is hashed, which takes a while: everybody can send this.
      const found = await repos.within(everywhere).invites.findBySecret(hash)
      if (!found) throw inviteInvalid()
      const names = found.userId === null ? namesOf(chosen, found) : refuseNames(chosen)
      const passwordHash = await hashes.hash(password)
      const opened = await repos.within(everywhere).transaction(async (repos) => {
        // In the order of a deactivation, which locks the person before the invites.
        const person = found.userId === null ? undefined : await repos.users.findForUpdate(found.userId)
        const invite = await repos.invites.take(hash)
        if (!invite || !(await mayManagePeople(repos, inviterOf(invite)))) throw inviteInvalid()
        const user = names ? await join(repos, { invite, names }) : await recover(repos, person)
        await repos.users.setPassword(user.id, passwordHash)
        return {
          ...(await openSession(repos, { user, userAgent })),
          browser: passwords.browserOf(passwordHash),
        }
      })
      access.forget()
      return opened
    },
  }

  async function createAs(actor: ActorRef, input: NewInvite): Promise<InviteWithSecret> {
    // Nobody could accept it.
    passwords.requireOn('')
    const invited = invitedBy(input)
    const secret = randomBytes(32).toString('base64url')
    return repos.within(everywhere).transaction(async (repos) => {
      await requireProjects(repos, { after: invited.projectIds })
      if (invited.userId !== null) await requireActive(repos, invited.userId)
      const now = clock.now()
      const row = await repos.invites.insert({
        id: clock.newId(now),
        hash: hashOf(secret),
        ...invited,
        invitedByType: actor.type,
        invitedById: actor.id,
        invitedByName: actor.name,
      })
      const activity = { type: 'invite.created', actor, now, metadata: about(row) }
      await repos.activity.insert([activityRow(clock, activity)])
      return { ...toInvite(row), secret, url: null }
    })
  }

  /** Creates the person who was invited. */
  async function join(repos: BoundRepositories, { invite, names }: Joining): Promise<UserRow> {
    // Casts: the database requires a role of an invite without a person.
    const role = invite.role as UserRow['role']
    const now = clock.now()
    const { email, projectIds } = invite
    // One may have been deleted in the moment in which the invite expired.
    for (const id of projectIds ?? []) if (!(await repos.projects.findForShare(id))) throw inviteInvalid()
    const user: UserRow = {
      id: clock.newId(now),
      ...names,
      email,
      role,
      projectIds,
      isActive: true,
      lastSeenAt: null,
      createdAt: now,
    }
    await repos.users.insert(user)
    await log(repos, { type: 'person.created', user, metadata: { role, projectIds } })
    return user
  }

  /** Ends what somebody may have opened or made with the old password of a person, who is locked. */
  async function recover(repos: BoundRepositories, user: UserRow | undefined): Promise<UserRow> {
    if (!user?.isActive) throw inviteInvalid()
    await repos.sessions.deleteOf({ userId: user.id })
    await repos.keys.revokeOfUser(user.id, clock.now())
    await repos.invites.deleteOfUser(user.id)
    await log(repos, { type: 'person.password_changed', user, metadata: {} })
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

/** The page that accepts an invite; the secret is in the fragment, which no server and no log gets. */
export const invitePage = ({ userId, secret }: { userId: string | null; secret: string }) =>
  `/${userId === null ? 'invite' : 'new-password'}#${secret}`

const inviterOf = ({ invitedByType: type, invitedById: id }: InviteRow) => ({ type, id })

interface Names {
  username: string
  name: string
}

interface Joining {
  invite: InviteRow
  names: Names
}

type Invited = Pick<InviteRow, 'userId' | 'name' | 'email' | 'role' | 'projectIds'>

/** @throws validation_failed for what is neither somebody new nor a lost password */
function invitedBy({ userId, name, email = null, role, projectIds }: NewInvite): Invited {
  if (userId !== undefined) {
    const given = Object.entries({ name, email, role, projectIds }).filter(([, value]) => value != null)
    if (given.length > 0) {
      throw validationFailed(
        given.map(([member]) => ({
          path: `/${member}`,
          code: 'not_allowed',
          message: 'must not be set together with userId: a new password changes nothing else',
        })),
      )
    }
    return { userId, name: null, email: null, role: null, projectIds: null }
  }
  if (name === undefined || role === undefined) throw missing({ name, role })
  if (role === 'owner') refuseReachOfOwner(projectIds)
  return { userId: null, name, email, role, projectIds: storedReach(projectIds) }
}

const missing = (members: Record<string, unknown>) =>
  validationFailed(
    Object.entries(members)
      .filter(([, value]) => value === undefined)
      .map(([member]) => ({ path: `/${member}`, code: 'required', message: 'is required' })),
  )

/** @throws user_not_found, also for a person who was deactivated */
async function requireActive(repos: BoundRepositories, id: string): Promise<void> {
  const user = await repos.users.findForShare(id)
  if (!user?.isActive) throw userNotFound(id)
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

const about = ({ id, userId, name, role, projectIds }: InviteRow) =>
  userId === null ? { inviteId: id, name, role, projectIds } : { inviteId: id, userId }

const toInvite = (row: InviteRow): Invite => ({
  id: row.id,
  userId: row.userId,
  name: row.name,
  email: row.email,
  role: row.role,
  projectIds: row.projectIds,
  invitedBy: { type: row.invitedByType, id: row.invitedById, name: row.invitedByName },
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
})
