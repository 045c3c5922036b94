import { orderById } from '../../domain/cursor.ts'
import type { ActorRef } from '../../domain/new-task.ts'
import type { Operations } from '../../domain/operation.ts'
import { rpIdOf } from '../../domain/relying-party.ts'
import { hashOf } from '../../domain/secret.ts'
import { checkCompiler } from '../../domain/validation/checks.ts'
import { inviteNotFound, signInAgain, userNotFound, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { InviteRow } from '../../repositories/people/invites.ts'
import { type Invite, type InviteWithSecret, NewInvite } from '../../schemas/invite.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf, changeLog } from '../activity/row.ts'
import { readPage } from '../page.ts'
import type { PasswordSignIn } from './password-sign-in.ts'
import { MANAGING_PEOPLE, refuseReachOfOwner, requireProjects, storedReach } from './users.ts'

interface InvitesDeps {
  repos: Repositories
  clock: Clock
  randomBytes(size: number): Buffer
  passwords: Pick<PasswordSignIn, 'requireOn'>
  publicUrl: string | undefined
  /** Whether people can sign in at an identity provider. */
  hasProviders(): Promise<boolean>
}

export const inviteOperations = {
  create: MANAGING_PEOPLE,
  list: { scope: 'admin', isServiceWide: true },
  withdraw: MANAGING_PEOPLE,
} satisfies Operations<ReturnType<typeof invitesService>>

/** Invites: the only way in for somebody new, and for a person who has lost the password. */
export function invitesService(deps: InvitesDeps) {
  const { repos, clock, randomBytes, passwords, publicUrl, hasProviders } = deps
  const record = changeLog(clock)
  const hasPublicPasskeys = publicUrl !== undefined && rpIdOf(publicUrl) !== undefined

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
  }

  async function createAs(actor: ActorRef, input: NewInvite): Promise<InviteWithSecret> {
    // Nobody could accept it: a passkey of localhost is of no use to others.
    if (!hasPublicPasskeys && !(await hasProviders())) passwords.requireOn('')
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
}

/**
 * Checks an invite that came through no route.
 * @throws validation_failed
 */
export function checkedInvite(input: NewInvite): NewInvite {
  const { error } = checkCompiler({ coerceTypes: false })(NewInvite)(input)
  if (error) throw error
  return input
}

/** The page that accepts an invite; the secret is in the fragment, which no server and no log gets. */
export const invitePage = ({ userId, secret }: { userId: string | null; secret: string }) =>
  `/${userId === null ? 'invite' : 'new-password'}#${secret}`

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

/** For members that one of several requests needs. */
export const missing = (members: Record<string, unknown>) =>
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
