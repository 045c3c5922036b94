import { isDeepStrictEqual } from 'node:util'
import { changesBetween, isNoChange } from '../../domain/changes.ts'
import { orderById } from '../../domain/cursor.ts'
import { distinctIds } from '../../domain/dependencies.ts'
import type { ActorRef } from '../../domain/new-task.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  insufficientScope,
  lastOwner,
  roleManagedByProvider,
  userNotFound,
  validationFailed,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import {
  type ChangedUser,
  type Person,
  Role,
  type User,
  type UserChange,
  type UserQuery,
} from '../../schemas/user.ts'
import type { AccessService, Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { openExpired } from '../claims/expired.ts'
import { readPage } from '../page.ts'
import type { Recorder } from '../recorder.ts'
import { toUser } from '../user-view.ts'
import { writableProject } from '../writable-project.ts'
import { endAccess } from './end-access.ts'
import { mayManagePeople } from './managers.ts'

interface UsersDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  metrics: Pick<Recorder, 'claimed'>
}

interface RequestedChange {
  id: string
  change: UserChange
}

export const ROLES: readonly Role[] = Role

const MAX_KEYS_TO_ROTATE = 100

/** What manages people: not a key that expires, which could let somebody in for longer than itself. */
export const MANAGING_PEOPLE = {
  scope: 'admin',
  isServiceWide: true,
  changesSecrets: true,
  needsLasting: true,
  isBeyondPersonalKeys: true,
} as const

export const userOperations = {
  list: { scope: 'admin', isServiceWide: true },
  get: { scope: 'admin', isServiceWide: true },
  update: MANAGING_PEOPLE,
  listPeople: { scope: 'any' },
} satisfies Operations<ReturnType<typeof usersService>>

/** People: their roles, their reach, and whether they can sign in. */
export function usersService({ repos, access, clock, metrics }: UsersDeps) {
  return {
    /** Oldest first. */
    async list(caller: Caller, { role, isActive, ...request }: UserQuery) {
      return readPage({
        order: orderById('users'),
        request,
        async read(after, limit): Promise<User[]> {
          const rows = await repos.within(caller).users.list({ role, isActive, after, limit })
          return rows.map(toUser)
        },
      })
    },

    /** Active people who share a project with the caller, oldest first. */
    async listPeople(caller: Caller, request: { limit?: number; cursor?: string }) {
      return readPage({
        order: orderById('people'),
        request,
        async read(after, limit): Promise<Person[]> {
          const rows = await repos.within(caller).users.listSharing({ after, limit })
          return rows.map(({ id, username, name }) => ({ id, username, name }))
        },
      })
    },

    /** @throws user_not_found */
    async get(caller: Caller, id: string): Promise<User> {
      const row = await repos.within(caller).users.find(id)
      if (!row) throw userNotFound(id)
      return toUser(row)
    },

    /**
     * Changes a person. Another role or reach ends what the person has open; deactivating ends sessions and claims.
     * @throws insufficient_scope, user_not_found, last_owner, role_managed_by_provider, project_not_found,
     * project_archived, validation_failed
     */
    update: (caller: Caller, request: RequestedChange) => updateAs(actorOf(caller), request),
    updateAs,
  }

  async function updateAs(actor: ActorRef, { id, change }: RequestedChange): Promise<ChangedUser> {
    const changed = await repos.within(everywhere).transaction(async (repos) => {
      await repos.users.lockRights()
      // The request may have waited for one that took the rights of its sender.
      if (!(await mayManagePeople(repos, actor))) throw insufficientScope('admin')
      const before = await repos.users.findForUpdate(id)
      if (!before) throw userNotFound(id)
      const after = changedUser(before, change)
      if (after.role !== before.role && (await repos.identities.hasManagedRole(id))) {
        throw roleManagedByProvider(before.name)
      }
      await requireProjects(repos, { before: before.projectIds, after: after.projectIds })
      const stopsOwning = isActiveOwner(before) && !isActiveOwner(after)
      if (stopsOwning && !(await repos.users.isAnotherOwner(before.id))) throw lastOwner(before.name)
      const changes = changesOf(before, after)
      const keys = after.isActive ? [] : await keysToRotate(repos, before.id)
      if (isNoChange(changes)) return { user: before, keys, isEnded: false }
      await repos.users.update(before.id, after)
      if (stopsOwning) await repos.invites.deleteCreatedBy(before.id)
      const isEnded = before.isActive && !after.isActive
      if (isEnded) await end(repos, before.id)
      const metadata = { userId: before.id, username: before.username, changes }
      const row = { type: activityType(before, after), actor, now: clock.now(), metadata }
      await repos.activity.insert([activityRow(clock, row)])
      return { user: after, keys, isEnded }
    })
    access.forget()
    if (changed.isEnded) await openTasks()
    return { ...toUser(changed.user), keysToRotate: changed.keys }
  }

  /** Ends what a person has open. */
  async function end(repos: BoundRepositories, userId: string): Promise<void> {
    await endAccess(repos, { userId, now: clock.now() })
    await repos.invites.deleteOfUser(userId)
    await repos.claims.endLeasesOf(userId)
  }

  /** Opens tasks whose claims have ended. The worker would do it within seconds, and does it if this fails. */
  async function openTasks(): Promise<void> {
    const bound = repos.within(everywhere)
    while (await openExpired(bound, { clock, metrics }).catch(() => false));
  }

  /** The keys that a person may know. */
  function keysToRotate(repos: BoundRepositories, userId: string): Promise<{ id: string; name: string }[]> {
    return repos.keys.listCreatedBy(userId, { now: clock.now(), limit: MAX_KEYS_TO_ROTATE })
  }
}

export const isActiveOwner = ({ role, isActive }: UserRow) => role === 'owner' && isActive

/** The changes of a person for the activity log, which has no addresses. */
export function changesOf(before: UserRow, after: UserRow): object {
  const changes = changesBetween({ before, after, names: ['name', 'role', 'projectIds', 'isActive'] })
  return after.email === before.email ? changes : { ...changes, email: 'changed' }
}

function activityType(before: UserRow, after: UserRow): string {
  if (before.isActive === after.isActive) return 'person.updated'
  return after.isActive ? 'person.reactivated' : 'person.deactivated'
}

/** @throws validation_failed for an owner of some projects */
function changedUser(before: UserRow, { projectIds, ...change }: UserChange): UserRow {
  const after = { ...before, ...change }
  if (after.role === 'owner') {
    refuseReachOfOwner(projectIds)
    return { ...after, projectIds: null }
  }
  const ids = projectIds === undefined ? before.projectIds : storedReach(projectIds)
  return { ...after, projectIds: isDeepStrictEqual(ids, before.projectIds) ? before.projectIds : ids }
}

/** @throws validation_failed */
export function refuseReachOfOwner(projectIds: string[] | null | undefined): void {
  if (!projectIds) return
  throw validationFailed([
    { path: '/projectIds', code: 'not_allowed', message: 'must be null: owners access all projects' },
  ])
}

/** A reach as it is stored: each project once, in the order of the IDs. */
export const storedReach = (ids: string[] | null | undefined): string[] | null =>
  ids ? distinctIds(ids).sort() : null

/**
 * Locks the projects that are added to a reach: they are not deleted meanwhile.
 * @throws project_not_found, project_archived
 */
export async function requireProjects(
  repos: Pick<BoundRepositories, 'projects'>,
  { before = null, after }: { before?: string[] | null; after: string[] | null },
): Promise<void> {
  for (const id of after ?? []) if (!before?.includes(id)) await writableProject(repos, { id })
}
