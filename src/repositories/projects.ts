import { violates } from '../db/database-error.ts'
import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import { apiKeys } from '../db/tables/access.ts'
import { codehostConnections } from '../db/tables/codehost.ts'
import { webhookRouting } from '../db/tables/feedback.ts'
import { identityProviders, invites, users } from '../db/tables/people.ts'
import { lists, projects } from '../db/tables/projects.ts'
import { rules } from '../db/tables/rules.ts'
import { sources } from '../db/tables/sources.ts'
import { tasks } from '../db/tables/tasks.ts'
import { webhooks } from '../db/tables/webhooks.ts'
import { projectNotEmpty } from '../errors/index.ts'
import type { Executor } from './index.ts'
import { openCount } from './lists.ts'
import { isReached, type Reach } from './reach.ts'

export type ProjectRow = typeof projects.$inferSelect
export type CountedProjectRow = ProjectRow & { openCount: number }

export interface ProjectPageRequest {
  isArchived: boolean | undefined
  /** The id at the end of the previous page. */
  after: string | undefined
  limit: number
}

/** What references a project, and its name if it has one. */
export interface ProjectUser {
  kind: 'rule' | 'key' | 'routing rule' | 'source' | 'webhook' | 'connection'
  name: string | null
}

export function projectsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(projects.id, reach)

  return {
    async insert(row: ProjectRow): Promise<void> {
      await db.insert(projects).values(row)
    },

    async find(id: string): Promise<ProjectRow | undefined> {
      const [row] = await db
        .select()
        .from(projects)
        .where(and(eq(projects.id, id), inReach))
      return row
    },

    async findDefault(): Promise<ProjectRow | undefined> {
      const [row] = await db
        .select()
        .from(projects)
        .where(and(eq(projects.isDefault, true), inReach))
      return row
    },

    async findCounted(id: string): Promise<CountedProjectRow | undefined> {
      const [row] = await counted(and(eq(projects.id, id), inReach))
      return row
    },

    /** Oldest first. */
    async listCounted({ isArchived, after, limit }: ProjectPageRequest): Promise<CountedProjectRow[]> {
      const isOfState =
        isArchived === undefined ? undefined : (isArchived ? isNotNull : isNull)(projects.archivedAt)
      return counted(and(inReach, isOfState, after ? gt(projects.id, after) : undefined))
        .orderBy(asc(projects.id))
        .limit(limit)
    },

    /** Pairs of id and name. */
    async listNames(ids: string[]): Promise<[string, string][]> {
      const rows = await db
        .select({ id: projects.id, name: projects.name })
        .from(projects)
        .where(and(sql`${projects.id} = any(${sql.param(ids)}::uuid[])`, inReach))
      return rows.map(({ id, name }) => [id, name])
    },

    /** Locks the project, its state, and the number and order of its lists and rules. */
    async findForUpdate(id: string): Promise<ProjectRow | undefined> {
      return locked(id, 'no key update')
    },

    /**
     * The same, and no list, key or rule can reference it until the transaction ends. Waits for transactions that locked
     * it with `findForShare`.
     */
    async findForDelete(id: string): Promise<ProjectRow | undefined> {
      return locked(id, 'update')
    },

    /** Locks the project so that it is neither archived nor deleted until the transaction ends; other changes proceed. */
    async findForShare(id: string): Promise<ProjectRow | undefined> {
      return locked(id, 'key share')
    },

    /** Which of these projects triage what arrives. */
    async listWithTriage(ids: string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db
        .select({ id: projects.id })
        .from(projects)
        .where(and(sql`${projects.id} = any(${sql.param(ids)}::uuid[])`, eq(projects.triage, 'on'), inReach))
      return new Set(rows.map(({ id }) => id))
    },

    /**
     * Locks the projects of these tasks and of the list they may move to, as `findForShare` does. In one order
     * everywhere, before the tasks themselves are locked.
     */
    async listForShare(taskIds: string[], listId: string | undefined): Promise<ProjectRow[]> {
      return db
        .select()
        .from(projects)
        .where(
          and(
            inReach,
            sql`${projects.id} in (
              select project_id from tasks where tasks.id = any(${sql.param(taskIds)}::uuid[])
              union all select project_id from lists where lists.id = ${listId ?? null}::uuid)`,
          ),
        )
        .orderBy(asc(projects.id))
        .for('key share')
    },

    async update(id: string, change: Partial<ProjectRow>): Promise<void> {
      await db
        .update(projects)
        .set(change)
        .where(and(eq(projects.id, id), inReach))
    },

    async hasTasks(id: string): Promise<boolean> {
      const { rows } = await db.execute<{ exists: boolean }>(
        sql`select exists (select from ${tasks} where ${tasks.projectId} = ${id} and ${tasks.deletedAt} is null)`,
      )
      return rows[0]?.exists === true
    },

    /** What references the project besides tasks, of each kind up to a limit. */
    async listUsers(id: string, { now, limit }: { now: Date; limit: number }): Promise<ProjectUser[]> {
      const isLive = and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)))
      const { rows } = await db.execute<ProjectUser & Record<string, unknown>>(sql`
        (select 'rule' as kind, null as name from ${rules}
          where ${rules.projectId} = ${id} and ${rules.deletedAt} is null limit 1)
        union all
        (select 'key', ${apiKeys.name} from ${apiKeys}
          where ${apiKeys.projectId} = ${id} and ${isLive} limit ${limit})
        union all
        (select 'routing rule', ${webhookRouting.name} from ${webhookRouting}
          where ${webhookRouting.targetProjectId} = ${id} limit ${limit})
        union all
        (select 'source', ${sources.name} from ${sources} where ${sources.projectId} = ${id} limit ${limit})
        union all
        (select 'webhook', ${webhooks.name} from ${webhooks} where ${webhooks.projectId} = ${id} limit ${limit})
        union all
        (select 'person', ${users.name} from ${users} where ${users.projectIds} @> array[${id}::uuid] limit ${limit})
        union all
        (select 'invite', ${invites.name} from ${invites}
          where ${invites.projectIds} @> array[${id}::uuid] and ${invites.expiresAt} > clock_timestamp() limit ${limit})
        union all
        (select 'identity provider', ${identityProviders.name} from ${identityProviders}
          where ${identityProviders.newUsers} -> 'projectIds' @> to_jsonb(${id}::uuid::text) limit ${limit})
        union all
        select 'connection', ${codehostConnections.repository} from ${codehostConnections}
          where ${codehostConnections.projectId} = ${id}`)
      return rows
    },

    /** Deletes an empty project with its lists, and its deleted tasks and rules before their retention ends. */
    async delete(project: Pick<ProjectRow, 'id' | 'name'>, now: Date): Promise<void> {
      const { id, name } = project
      await db.delete(tasks).where(and(eq(tasks.projectId, id), isNotNull(tasks.deletedAt)))
      await db.delete(rules).where(and(eq(rules.projectId, id), isNotNull(rules.deletedAt)))
      // Revoked keys are kept, so that their secrets stay known; without scopes, because they are no longer bound.
      await db
        .update(apiKeys)
        .set({ projectId: null, scopes: [], revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${now})` })
        .where(eq(apiKeys.projectId, id))
      try {
        await db.delete(lists).where(eq(lists.projectId, id))
        await db.delete(projects).where(eq(projects.id, id))
      } catch (error) {
        // A task was deleted or restored meanwhile.
        if (violates(error, 'tasks_list_in_project')) throw projectNotEmpty(name)
        throw error
      }
    },
  }

  function counted(condition: SQL | undefined) {
    const ofProject = sql<number>`(
      select coalesce(sum(${openCount}), 0)::integer from lists where lists.project_id = projects.id)`
    return db
      .select({ ...getTableColumns(projects), openCount: ofProject })
      .from(projects)
      .where(condition)
      .$dynamic()
  }

  async function locked(id: string, strength: 'update' | 'no key update' | 'key share') {
    const [row] = await db
      .select()
      .from(projects)
      .where(and(eq(projects.id, id), inReach))
      .for(strength)
    return row
  }
}
