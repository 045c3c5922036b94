import { and, asc, desc, eq, isNull, lt, or, type SQL, sql } from '../db/drizzle.ts'
import { rules, ruleVersions } from '../db/tables/rules.ts'
import type { Executor } from './index.ts'
import { isReached, type Reach } from './reach.ts'

export type RuleRow = typeof rules.$inferSelect
export type RuleVersionRow = typeof ruleVersions.$inferSelect
/** A version of a rule, and the length of its content and globs. */
export interface RuleRef extends Pick<RuleRow, 'id' | 'version' | 'paths'> {
  bytes: number
}
export type RuleUpdate = Partial<RuleRow> & Pick<RuleRow, 'updatedAt' | 'version'>

/** Taken to add a global rule; a project's rules are added under the lock of the project. */
const GLOBAL_RULES_LOCK = 7_461_003

export function rulesRepository(db: Executor, reach: Reach) {
  // Global rules are in every reach.
  const reached = isReached(rules.projectId, reach)
  const inReach = reached && or(isNull(rules.projectId), reached)
  const isShown = isNull(rules.deletedAt)
  const isRule = (id: string, hidden: boolean) => and(eq(rules.id, id), inReach, hidden ? undefined : isShown)

  return {
    async lockGlobalScope(): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(${GLOBAL_RULES_LOCK})`)
    },

    /** How many rules a scope has, active or not. */
    async countInScope(projectId: string | null): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::integer` })
        .from(rules)
        .where(and(isOfScope(projectId), inReach, isShown))
      return row?.count ?? 0
    },

    async insert(row: RuleRow): Promise<void> {
      await db.insert(rules).values(row)
    },

    /** Stores a version. */
    async insertVersion(row: RuleVersionRow): Promise<void> {
      await db.insert(ruleVersions).values(row)
    },

    async find(id: string, { hidden = false } = {}): Promise<RuleRow | undefined> {
      const [row] = await db.select().from(rules).where(isRule(id, hidden))
      return row
    },

    async findForUpdate(id: string, { hidden = false } = {}): Promise<RuleRow | undefined> {
      const [row] = await db.select().from(rules).where(isRule(id, hidden)).for('update')
      return row
    },

    /**
     * The current versions of the global rules and those of a project, if given, in the order in which assistants receive
     * them.
     * @param options.ofAll without a project, also those of every project in reach
     */
    async listRefs(
      projectId: string | null,
      { withInactive = false, ofAll = false } = {},
    ): Promise<RuleRef[]> {
      const ofNone = ofAll ? undefined : isNull(rules.projectId)
      const applies = projectId === null ? ofNone : or(isNull(rules.projectId), isOfScope(projectId))
      return db
        .select({
          id: rules.id,
          version: rules.version,
          // The driver reads an array sixty times as slowly: thousands of globs would block the event loop.
          paths: sql<string[]>`to_json(${rules.paths})`,
          bytes: sql<number>`octet_length(${rules.content}) + octet_length(${rules.paths}::text)`,
        })
        .from(rules)
        .where(and(applies, inReach, isShown, withInactive ? undefined : eq(rules.isActive, true)))
        .orderBy(desc(rules.priority), asc(rules.createdAt), asc(rules.id))
    },

    /** The rules as they were in these versions, in this order. */
    async listByRefs(refs: RuleRef[]): Promise<RuleRow[]> {
      const ids = sql`${sql.param(refs.map(({ id }) => id))}::uuid[]`
      const versions = sql`${sql.param(refs.map(({ version }) => version))}::integer[]`
      return db
        .select({
          id: rules.id,
          content: ruleVersions.content,
          priority: ruleVersions.priority,
          isActive: ruleVersions.isActive,
          paths: ruleVersions.paths,
          projectId: rules.projectId,
          version: ruleVersions.version,
          createdAt: rules.createdAt,
          updatedAt: ruleVersions.createdAt,
          updatedByType: ruleVersions.actorType,
          updatedById: ruleVersions.actorId,
          updatedByName: ruleVersions.actorName,
          deletedAt: rules.deletedAt,
        })
        .from(ruleVersions)
        .innerJoin(rules, eq(rules.id, ruleVersions.ruleId))
        .where(
          and(
            sql`(${ruleVersions.ruleId}, ${ruleVersions.version}) in (select * from unnest(${ids}, ${versions}))`,
            inReach,
          ),
        )
        .orderBy(sql`array_position(${ids}, ${rules.id})`)
    },

    async update(id: string, change: RuleUpdate): Promise<void> {
      await db
        .update(rules)
        .set(change)
        .where(and(eq(rules.id, id), inReach))
    },

    /** Marks a rule as deleted, or restores it; its versions are kept. */
    async setDeleted(id: string, deletedAt: Date | null): Promise<void> {
      await db
        .update(rules)
        .set({ deletedAt })
        .where(and(eq(rules.id, id), inReach))
    },

    async findVersion(ruleId: string, version: number): Promise<RuleVersionRow | undefined> {
      const [row] = await db
        .select()
        .from(ruleVersions)
        .where(and(eq(ruleVersions.ruleId, ruleId), eq(ruleVersions.version, version)))
      return row
    },

    /** Newest first; `before` is the version at the end of the previous page. */
    async listVersions(
      ruleId: string,
      { before, limit }: { before: number | undefined; limit: number },
    ): Promise<RuleVersionRow[]> {
      return db
        .select()
        .from(ruleVersions)
        .where(
          and(
            eq(ruleVersions.ruleId, ruleId),
            before === undefined ? undefined : lt(ruleVersions.version, before),
          ),
        )
        .orderBy(desc(ruleVersions.version))
        .limit(limit)
    },
  }
}

const isOfScope = (projectId: string | null): SQL =>
  projectId === null ? isNull(rules.projectId) : eq(rules.projectId, projectId)
