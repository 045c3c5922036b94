import {
  type Claims,
  emailOf,
  hasRequiredGroup,
  mayJoin,
  nameOf,
  roleByGroups,
  usernameOf,
  withSuffix,
} from '../../domain/identity.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { Role } from '../../schemas/user.ts'
import type { AccessService } from '../access.ts'
import { activityRow, actorOfUser, SERVICE } from '../activity/row.ts'
import { type OpenedSession, openSessionOf } from '../sessions.ts'
import { endAccess } from './end-access.ts'
import { redirectUrlOf } from './identity-providers.ts'
import type { InviteRedemption } from './invite-redemption.ts'
import type { Provider, ProviderDirectory } from './provider-directory.ts'
import type { Refused, SignInPurpose } from './provider-sign-in.ts'
import { changesOf, isActiveOwner } from './users.ts'

interface PersonDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
  redemption: InviteRedemption
  directory: Pick<ProviderDirectory, 'findForShare'>
  publicUrl: string | undefined
}

/** What a provider has proved. */
interface Verified {
  providerId: string
  issuer: string
  subject: string
  claims: Claims
  purpose: SignInPurpose
  userAgent: string | undefined
}

/** With the provider as it is now. */
type SignIn = Verified & { provider: Provider }

type Found = Refused | { outcome: 'signed in'; opened: OpenedSession } | { outcome: 'linked' }

export type PersonFinder = ReturnType<typeof personOfIdentity>

/** How often a username gets a number before it gets a random suffix. */
const MAX_NUMBER = 9

/**
 * Returns a function that finds, links or creates the person of a verified identity, and opens a session. Only issuer
 * and subject identify somebody: never the email address or the username.
 */
export function personOfIdentity(deps: PersonDeps) {
  const { repos, access, clock, randomBytes, redemption, directory, publicUrl } = deps
  const openSession = openSessionOf({ clock, randomBytes })

  /** @throws invite_invalid, username_taken, validation_failed */
  return async function personOf(verified: Verified): Promise<Found> {
    const { purpose } = verified
    const { hash, ...names } = purpose.invite ?? {}
    const invite = hash === undefined ? undefined : await redemption.find(hash, names)
    const found = await repos.within(everywhere).transaction(async (repos): Promise<Found> => {
      await repos.users.lockRights()
      await repos.identities.lock(verified)
      const known = await lockedPersonOf(repos, verified)
      // Its rules may have changed while the provider was asked.
      const provider = await directory.findForShare(repos, verified.providerId)
      if (!provider?.isActive) return refused('provider_off')
      const signIn = { ...verified, provider }
      if (!hasRequiredGroup(verified.claims, provider)) {
        // Returned, not thrown: what it ends stays ended.
        if (known) await endAccess(repos, { userId: known.id, now: clock.now() })
        return refused('group_required')
      }
      if (known && !known.isActive) return refused('deactivated')
      if (purpose.userId !== undefined) return linkTo(repos, { signIn, known })
      if (invite) {
        const isOther = known !== undefined && known.id !== invite.userId
        if (isOther) return refused('identity_taken')
        const user = await redemption.redeem(repos, { invite })
        if (!known) await link(repos, { signIn, user })
        return open(repos, { signIn, user })
      }
      if (known) return open(repos, { signIn, user: known })
      if (!mayJoin(verified.claims, provider)) {
        return refused(provider.createUsers === 'allowed' ? 'not_allowed' : 'not_invited')
      }
      const user = await create(repos, signIn)
      if (!user) return refused('not_allowed')
      await link(repos, { signIn, user })
      return open(repos, { signIn, user })
    })
    access.forget()
    return found
  }

  /** The person with this identity. While their row was waited for, somebody may have removed the link. */
  async function lockedPersonOf(repos: BoundRepositories, verified: Verified): Promise<UserRow | undefined> {
    const identity = await repos.identities.findBySubject(verified)
    const user = identity && (await repos.users.findForUpdate(identity.userId))
    const current = await repos.identities.findBySubject(verified)
    return current?.userId === user?.id ? user : undefined
  }

  async function linkTo(
    repos: BoundRepositories,
    { signIn, known }: { signIn: SignIn; known: UserRow | undefined },
  ): Promise<Found> {
    const { userId = '', sessionId = '' } = signIn.purpose
    if (known) return known.id === userId ? { outcome: 'linked' } : refused('identity_taken')
    const user = await repos.users.findForUpdate(userId)
    if (!user?.isActive) return refused('deactivated')
    // What ended the session meanwhile may have been for that reason.
    if (!(await repos.sessions.find(sessionId, userId))) return refused('attempt_invalid')
    await link(repos, { signIn, user })
    return { outcome: 'linked' }
  }

  async function link(
    repos: BoundRepositories,
    { signIn: { provider, issuer, subject }, user }: Linking,
  ): Promise<void> {
    const now = clock.now()
    const id = clock.newId(now)
    const providerId = provider.id
    const redirectUrl = redirectUrlOf(publicUrl, providerId)
    await repos.identities.insert({ id, issuer, subject, userId: user.id, providerId, redirectUrl })
    const metadata = { identityId: id, providerId, userId: user.id, username: user.username }
    const actor = actorOfUser(user)
    await repos.activity.insert([activityRow(clock, { now, type: 'identity.linked', actor, metadata })])
  }

  async function open(repos: BoundRepositories, { signIn, user }: Linking): Promise<Found> {
    const { provider, claims, userAgent } = signIn
    const role = roleByGroups(claims, provider)
    await repos.identities.use(signIn, {
      providerId: provider.id,
      redirectUrl: redirectUrlOf(publicUrl, provider.id),
      isRoleManaged: role !== undefined,
    })
    const current = role ? await withRole(repos, { user, role, provider }) : user
    return { outcome: 'signed in', opened: await openSession(repos, { user: current, userAgent }) }
  }

  /** Changes the role to that of the groups. The last active owner stays one. */
  async function withRole(
    repos: BoundRepositories,
    { user, role, provider }: { user: UserRow; role: Role; provider: Provider },
  ): Promise<UserRow> {
    if (role === user.role) return user
    const stopsOwning = isActiveOwner(user)
    if (stopsOwning && !(await repos.users.isAnotherOwner(user.id))) return user
    const reach = stopsOwning ? (provider.newUsers?.projectIds ?? null) : user.projectIds
    const after = { ...user, role, projectIds: role === 'owner' ? null : reach }
    await repos.users.update(user.id, { role, projectIds: after.projectIds })
    if (stopsOwning) await repos.invites.deleteCreatedBy(user.id)
    const metadata = { userId: user.id, username: user.username, changes: changesOf(user, after) }
    const message = `The groups at ${JSON.stringify(provider.name)} decide the role.`
    const row = { now: clock.now(), type: 'person.updated', actor: SERVICE, message, metadata }
    await repos.activity.insert([activityRow(clock, row)])
    return after
  }

  /** Creates somebody whom nobody has invited; undefined if none of the projects exists any more. */
  async function create(
    repos: BoundRepositories,
    { provider, claims }: SignIn,
  ): Promise<UserRow | undefined> {
    const { role = 'viewer', projectIds = null } = provider.newUsers ?? {}
    for (const id of projectIds ?? []) if (!(await repos.projects.findForShare(id))) return undefined
    const now = clock.now()
    const person = { id: clock.newId(now), email: emailOf(claims), role, projectIds }
    const preferred = usernameOf(claims)
    for (let number = 1; ; number++) {
      const username = number === 1 ? preferred : withSuffix(preferred, suffixOf(number))
      const name = nameOf(claims, username)
      const user: UserRow = { ...person, username, name, isActive: true, lastSeenAt: null, createdAt: now }
      if (!(await repos.users.insertUnlessTaken(user))) continue
      const metadata = { userId: user.id, username, role, projectIds, providerId: provider.id }
      const row = { now, type: 'person.created', actor: actorOfUser(user), metadata }
      await repos.activity.insert([activityRow(clock, row)])
      return user
    }
  }

  function suffixOf(number: number): string {
    return number <= MAX_NUMBER ? String(number) : randomBytes(4).toString('hex')
  }
}

interface Linking {
  signIn: SignIn
  user: UserRow
}

const refused = (error: Refused['error']): Refused => ({ outcome: 'refused', error })
