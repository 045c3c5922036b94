import { DATABASE_ID as ID } from '../db/database-id.ts'
import { and, asc, eq, gt, inArray, lte, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { activity } from '../db/tables/activity.ts'
import { changeFeed, changes } from '../db/tables/changes.ts'
import type { ChangePosition } from '../domain/change-cursor.ts'
import type { ActivityRow } from './activity.ts'
import type { Executor } from './index.ts'
import { isReached } from './reach.ts'

/** An activity with its position. */
export interface ChangeRow extends ActivityRow {
  position: number
}

export interface SequencingPass {
  /**
   * `done`: what was committed before the pass has positions. `more`: there is more of it. `busy`: another instance has the
   * turn. `foreign`: the database was restored from another one, whose transaction ids mean nothing here.
   */
  outcome: 'done' | 'more' | 'busy' | 'foreign'
  /** Up to where activity has positions. */
  end: ChangePosition
}

/** After this position, up to that one. */
export interface ChangeRange {
  after: number
  to: number
  /** Null for those of all projects, and of none. */
  projectIds?: readonly string[] | null | undefined
  types?: string[] | undefined
  limit: number
}

/** Of one pass, at 3 µs a row. */
const MAX_PASS = 50_000

const SEQUENCING_LOCK = 7_461_005

const DATABASE_ID = sql.raw(ID)

/**
 * One statement, so the rows that it sees are exactly those of its snapshot. An instance that got the turn after another
 * had read the old state finds it changed, and changes nothing.
 */
const pass = preparedStatement<PassRow>(
  'give positions',
  sql`
  with here as materialized (
    select ${DATABASE_ID} as id
  ), feed as materialized (
    select epoch, last_position, snapshot, pending_sequence, coalesce(pending_snapshot, pg_current_snapshot()) as target
    from ${changeFeed} join here on here.id = database_id
    where pg_try_advisory_xact_lock(${sql.raw(String(SEQUENCING_LOCK))})
  ), written as (
    select id, sequence, transaction from ${activity}
    where transaction = any(array(select pg_snapshot_xip(snapshot) from feed))
    union all
    select id, sequence, transaction from ${activity}
    where transaction >= (select pg_snapshot_xmax(snapshot) from feed)
      and transaction < (select pg_snapshot_xmax(target) from feed)
  ), fresh as materialized (
    select id, sequence from written
    where pg_visible_in_snapshot(transaction, (select target from feed))
      and sequence > (select coalesce(pending_sequence, -1) from feed)
    order by sequence limit ${sql.placeholder('limit')}
  ), found as materialized (
    select count(*) as count, count(*) = ${sql.placeholder('limit')} as has_more, max(sequence) as last from fresh
  ), advanced as (
    update ${changeFeed} set
      last_position = feed.last_position + found.count,
      snapshot = case when has_more then feed.snapshot else target end,
      pending_snapshot = case when has_more then target end,
      pending_sequence = case when has_more then last end
    from feed, found
    where change_feed.epoch = feed.epoch and change_feed.last_position = feed.last_position
      and (found.count > 0 or feed.pending_sequence is not null)
    returning feed.last_position as before, change_feed.last_position
  ), positioned as (
    insert into ${changes} (position, activity_id)
    select before + row_number() over (order by sequence), id from fresh, advanced
    on conflict (activity_id) do nothing
  )
  select change_feed.epoch, coalesce(advanced.last_position, change_feed.last_position)::float8 as position,
    case
      when database_id <> here.id then 'foreign'
      when not exists (select from feed) or (found.count > 0 and advanced.before is null) then 'busy'
      when has_more then 'more'
      else 'done'
    end as outcome
  from ${changeFeed} cross join here cross join found left join advanced on true`,
)

interface PassRow extends ChangePosition {
  outcome: SequencingPass['outcome']
}

/** The order of the activity log for its readers: outside any reach. */
export function changesRepository(db: Executor) {
  return {
    /** Gives positions to activity that is committed and has none, at most `limit`. Never waits for another instance. */
    async sequence(limit = MAX_PASS): Promise<SequencingPass> {
      const { rows } = await pass(db, { limit })
      const [row] = rows
      if (!row) throw new Error('The table change_feed is empty.')
      return { outcome: row.outcome, end: { epoch: row.epoch, position: row.position } }
    },

    /** The committed transactions, in PostgreSQL's text format. It changes with each commit. */
    async snapshot(): Promise<string> {
      const { rows } = await db.execute<{ snapshot: string }>(
        sql`select pg_current_snapshot()::text as snapshot`,
      )
      return rows[0]?.snapshot ?? ''
    },

    /**
     * Activity in the order of positions. The cost depends on the number of positions in the range, however rare the
     * activity is: each is looked up, where the planner might read all activity of a project.
     */
    async list({ after, to, projectIds = null, types, limit }: ChangeRange): Promise<ChangeRow[]> {
      // With a limit, PostgreSQL does not turn the lookup around.
      const found = db.select().from(activity).where(eq(activity.id, changes.activityId)).limit(1).as('found')
      const { position } = changes
      return db
        .select({
          position,
          id: found.id,
          type: found.type,
          message: found.message,
          taskId: found.taskId,
          projectId: found.projectId,
          actorType: found.actorType,
          actorId: found.actorId,
          actorName: found.actorName,
          metadata: found.metadata,
          createdAt: found.createdAt,
        })
        .from(changes)
        .innerJoinLateral(found, sql`true`)
        .where(
          and(
            gt(position, after),
            lte(position, to),
            isReached(found.projectId, { projectIds }),
            types && inArray(found.type, types),
          ),
        )
        .orderBy(asc(position))
        .limit(limit)
    },

    /** The first position of an activity with this id or a higher one. */
    async findFirstSince(activityId: string): Promise<number | undefined> {
      // Of the position itself, PostgreSQL would look for the minimum from the beginning of all positions.
      const { rows } = await db.execute<{ first: number | null }>(sql`
        select min(position + 0)::float8 as first from ${changes} where activity_id >= ${activityId}::uuid`)
      return rows[0]?.first ?? undefined
    },

    /**
     * Makes all cursors invalid, because positions may mean other activities from now on. For a restore; and for an import,
     * as the last statement of its transaction, after it has deleted the positions of the activity that it deleted.
     */
    async renewEpoch(): Promise<void> {
      await db.execute(sql`update ${changeFeed} set epoch = gen_random_uuid()`)
    },

    /** Whether the database was restored from another one since the last pass. */
    async isForeign(): Promise<boolean> {
      const { rows } = await db.execute<{ isForeign: boolean }>(
        sql`select database_id <> ${DATABASE_ID} as "isForeign" from ${changeFeed}`,
      )
      return rows[0]?.isForeign ?? false
    },

    /**
     * Makes activity without a position look as if it was written now, so that a later pass finds it. Reads at most `limit`
     * rows after an id; returns the last one, undefined at the end.
     */
    async touchWithoutPosition(after: string | undefined, limit: number): Promise<string | undefined> {
      const { rows } = await db.execute<{ last: string }>(sql`
        with page as materialized (
          select id from ${activity} where id > ${after ?? ZERO_ID}::uuid order by id limit ${limit}
        ), touched as (
          update ${activity} set transaction = default where id in (
            select id from page where not exists (select from ${changes} where activity_id = page.id))
        )
        select id as last from page order by id desc limit 1`)
      return rows[0]?.last
    },

    /** Starts a new epoch in a database that was restored: `snapshot` is from before activity was touched. */
    async adopt(snapshot: string): Promise<void> {
      await db.execute(sql`
        update ${changeFeed} set epoch = gen_random_uuid(), database_id = ${DATABASE_ID},
          snapshot = ${snapshot}::pg_snapshot, pending_snapshot = null, pending_sequence = null
        where database_id <> ${DATABASE_ID}`)
    },
  }
}

const ZERO_ID = '00000000-0000-0000-0000-000000000000'
