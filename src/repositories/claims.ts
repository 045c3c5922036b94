import { columnArrays } from '../db/column-arrays.ts'
import { and, asc, desc, eq, gt, isNotNull, lte, type SQL, sql } from '../db/drizzle.ts'
import { opaqueArray, preparedStatement } from '../db/prepared-statement.ts'
import { activity } from '../db/tables/activity.ts'
import { users } from '../db/tables/people.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { ActorRef } from '../domain/new-task.ts'
import { namingUnavailable } from './database-away.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { isAmong, isReached, isReachedBy, onlyProjectOf, type Reach } from './reach.ts'
import { taskJson, utc } from './task-json.ts'
import { isRare } from './task-names.ts'
import { opaque } from './task-page-conditions.ts'
import { IS_CLAIMABLE } from './task-readiness.ts'
import type { TaskRow } from './tasks.ts'

/** Which tasks can be claimed. A list is given together with its project. */
export interface ClaimFilter {
  /** Different ones. */
  projectIds?: readonly string[] | undefined
  listId?: string | undefined
  /** Whether the list has at most `MAX_SHORT_LIST` open tasks. */
  isShortList?: boolean | undefined
  label?: string | undefined
  source?: TaskRow['source'] | undefined
}

/**
 * The open tasks of a shorter list are sorted, in about a millisecond. Those of a longer one are read in the order of its
 * project, with the tasks of other lists between them.
 */
export const MAX_SHORT_LIST = 1_000

/** A claim to make, and the id of its activity. */
export interface NewClaimRow {
  activityId: string
  actor: ActorRef
  leaseSeconds: number
  now: Date
}

/** What a statement that claims the next tasks did. */
export interface NextClaims {
  /** The claimed task of each claim as JSON text; undefined if there are not enough, or its person is not active. */
  tasks: (string | undefined)[]
  /** Whether the lease of any task is over. */
  hasExpired: boolean
  /** Whether there are other tasks that can be claimed, and are locked. */
  hasMore: boolean
}

/** A claim whose lease is over. */
export type ExpiredClaim = Pick<
  TaskRow,
  | 'id'
  | 'projectId'
  | 'status'
  | 'claimNumber'
  | 'claimExpiresAt'
  | 'claimedByType'
  | 'claimedById'
  | 'claimedByName'
>

/**
 * How many claims share a statement. The limit of a statement is no parameter, because plans depend on it; these are few,
 * because each connection plans each.
 */
export const CLAIM_BATCHES = [16, 8, 4, 2, 1] as const

/** Leases of a person that end in one statement. */
const MAX_ENDED = 1_000

/** As a subquery: an index can be compared with its value, but not with a function that changes within the statement. */
const now = sql`(select clock_timestamp())`

/**
 * Whether the lease of any claim is over. The minimum is read from the index of claims: the planner expects a third of all
 * tasks to be before a time that it does not know, and would read all tasks to find one.
 */
const isAnyExpired = sql`coalesce((select min(claim_expires_at) from ${tasks}) <= clock_timestamp(), false)`

const claimants = columnArrays<NewClaimRow & { place: number }>({
  place: ['integer', ({ place }) => place],
  claim_activity: ['uuid', ({ activityId }) => activityId],
  by_type: ['text', ({ actor }) => actor.type],
  by_id: ['uuid', ({ actor }) => actor.id],
  by_name: ['text', ({ actor }) => actor.name],
  lease_seconds: ['integer', ({ leaseSeconds }) => leaseSeconds],
  claimed_at: ['timestamptz', ({ now }) => now.toISOString()],
})
/**
 * The claims to make. The end of a person's access waits for theirs, and then ends them; of one whose access has ended
 * meanwhile, nothing is claimed.
 */
const claimant = sql`
  requested as materialized (select * from ${claimants.as('requested')}),
  person as materialized (
    select id as person_id from ${users}
    where id = any(array(select by_id from requested where by_type = 'user')) and is_active
    order by id for key share
  ), claimant as materialized (
    select *, row_number() over (order by place)::integer as turn from requested
    where by_type <> 'user' or by_id in (select person_id from person)
  )`
const valuesOf = (claims: NewClaimRow[]) =>
  claimants.valuesOf(claims.map((claim, index) => ({ ...claim, place: index + 1 })))

const leaseEnd = sql`clock_timestamp() + make_interval(secs => lease_seconds)`

/** The end of a `with` that has `claimant`: the claims, of tasks that meet the condition, and their activity. */
const claiming = ({ from, condition }: { from: SQL; condition: SQL | undefined }) => sql`
  claimed as (
    update ${tasks} set status = 'in_progress', triaged = true, claim_number = claim_number + 1,
      claim_expires_at = ${leaseEnd}, claimed_by_type = by_type, claimed_by_id = by_id, claimed_by_name = by_name,
      updated_at = claimed_at, version = version + 1
    from ${from} where ${condition}
    returning ${tasks}.*, place
  ), logged as (
    insert into ${activity} (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
    select claim_activity, 'task.claimed', claimed.id, project_id, by_type, by_id, by_name,
      jsonb_build_object('number', claim_number, 'expiresAt', ${sql.raw(utc('claim_expires_at'))}), claimed_at
    from claimed join claimant using (place)
  ), shown as (
    select place, ${taskJson({ isSummary: false })} as json from claimed as tasks
  )`

const claimTask = preparedStatement<{ json: string }>(
  'claim a task',
  sql`
    with ${claimant}, open as (
      select id from ${projects}
      where id = (select project_id from ${tasks} where id = ${sql.placeholder('id')}) and archived_at is null
      for key share
    ), ${claiming({
      from: sql`claimant`,
      condition: sql`tasks.id = ${sql.placeholder('id')} and project_id in (select id from open)
        and ${isReachedBy(tasks.projectId, sql.placeholder('reach'))} and ${sql.raw(IS_CLAIMABLE)}`,
    })}
    select json from shown`,
)

const isAnother = opaque(sql`id <> all(array(select picked_id from picked))`)

interface NextRow {
  /** Of the claim. */
  place: number | null
  json: string | null
  hasExpired: boolean
  hasMore: boolean
}

/** What a statement depends on. */
type Given = 'projectId' | 'projectIds' | 'listId' | 'isShortList' | 'label' | 'isRareLabel' | 'source'

const statements = new Map<string, ReturnType<typeof preparedStatement<NextRow>>>()

/** Claims as many tasks as the size, of those that no other transaction has locked. */
function claimNextOf(size: number, given: Given[]) {
  const shape = `${size} ${given}`
  const known = statements.get(shape)
  if (known) return known
  const { condition, order } = searchOf(given)
  // PostgreSQL tells names apart by their first 63 characters.
  const statement = preparedStatement<NextRow>(
    `claim next tasks #${statements.size}`,
    sql`
      with ${claimant}, expired as materialized (
        select ${isAnyExpired} as is_any
      ), ready as materialized (
        select id, project_id, priority from ${tasks}
        where ${condition} and (select count(*) from claimant) > 0
          and (${sql.placeholder('skipsExpired')}::boolean or not (select is_any from expired))
        order by ${order} limit ${sql.raw(String(size))} for update skip locked
      ), open as materialized (
        select id from ${projects} where id in (select project_id from ready) and archived_at is null
        order by id for key share skip locked
      ), picked as materialized (
        select id as picked_id, row_number() over (order by priority desc, id)::integer as turn from ready
        where project_id in (select id from open)
      ), ${claiming({
        from: sql`picked join claimant using (turn)`,
        condition: sql`tasks.id = picked_id`,
      })}
      select place, json, is_any as "hasExpired",
        (select count(*) from picked) < ${sql.raw(String(size))} and coalesce((
          -- Not "exists", which has no order.
          select true from ${tasks} where ${condition} and ${isAnother} order by ${order} limit 1
        ), false) as "hasMore"
      from expired left join shown on true`,
  )
  statements.set(shape, statement)
  return statement
}

/** What is searched for a filter, and the order in which an index has it. */
function searchOf(given: Given[]): { condition: SQL; order: SQL } {
  const others = [
    ...(given.includes('listId') ? [opaque(eq(tasks.listId, sql.placeholder('listId')))] : []),
    ...(given.includes('label') ? [opaque(HAS_LABEL)] : []),
    ...(given.includes('source') ? [opaque(eq(tasks.source, sql.placeholder('source')))] : []),
  ]
  const found = given.includes('isRareLabel')
    ? WITH_LABEL
    : given.includes('isShortList')
      ? OPEN_IN_LIST
      : given.includes('projectIds') && firstOfEach(others)
  if (found) {
    const isOne = sql`${tasks.id} = any(array(${found}))`
    const isInPlace = given.includes('projectIds')
      ? opaque(isAmong(tasks.projectId, PROJECT_IDS))
      : given.includes('projectId')
        ? opaque(sql`${tasks.projectId} is not distinct from ${sql.placeholder('projectId')}`)
        : undefined
    // No index has this order, so that the ids are read instead.
    return { condition: allOf(isOne, isInPlace, ...others, opaque(CLAIMABLE)), order: sql`-priority, id` }
  }
  if (!given.includes('projectId'))
    return { condition: allOf(CLAIMABLE, ...others), order: sql`priority desc, id` }
  return {
    condition: allOf(isWithin(tasks.projectId, sql.placeholder('projectId')), CLAIMABLE, ...others),
    // Begins with the project, so that only the index of projects has this order.
    order: sql`project_id, priority desc, id`,
  }
}

const CLAIMABLE = sql.raw(IS_CLAIMABLE)
const HAS_LABEL = sql`${tasks.labels} <> '{}' and lower_names(${tasks.labels}) && lower_names(${sql.placeholder('label')}::text[])`
const WITH_LABEL = sql`select id from ${tasks} where ${HAS_LABEL} and deleted_at is null`
/** As a range, in this order: else the planner may take the index of all open tasks for as good. */
const OPEN_IN_LIST = sql`
  select id from ${tasks}
  where list_id = ${sql.placeholder('listId')} and status >= 'open' and status <= 'open' and deleted_at is null
  order by status, id`

const PROJECT_IDS = opaqueArray('projectIds', 'uuid')

/** Of several projects: the first of each, from the project's own index. */
const firstOfEach = (others: SQL[]): SQL => sql`
  select first.id from ${projects} as reached cross join lateral (
    select id from ${tasks} where ${allOf(isWithin(tasks.projectId, sql`reached.id`), CLAIMABLE, ...others)}
    order by project_id, priority desc, id limit ${sql.raw(String(MAX_CANDIDATES))}
  ) as first where ${isAmong(sql`reached.id`, PROJECT_IDS)}`

/** More than a change of a hundred tasks and the claims beside it lock at a time. */
const MAX_CANDIDATES = 250

const allOf = (...conditions: (SQL | undefined)[]): SQL => and(...conditions) ?? sql`true`

/** Claims of tasks. Each is one statement, and leases are judged by the clock of the database. */
export function claimsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(tasks.projectId, reach)

  return {
    /** Claims a task, and returns it as JSON text; undefined if it can't be claimed, or the person is not active. */
    async claim(id: string, claim: NewClaimRow): Promise<string | undefined> {
      const { rows } = await claimTask(db, { id, reach: reach.projectIds, ...valuesOf([claim]) })
      return rows[0]?.json
    },

    /**
     * Claims the first tasks by priority, then age. The number of claims is one of `CLAIM_BATCHES`. Never waits: skips
     * locked tasks. Claims nothing while the lease of any task is over, unless these are skipped.
     * @throws AppError `unavailable` when the database is away.
     */
    async claimNext(
      claims: NewClaimRow[],
      { filter, skipsExpired }: { filter: ClaimFilter; skipsExpired: boolean },
    ): Promise<NextClaims> {
      const { projectIds = null, listId, isShortList, label, source } = filter
      const projectId = onlyProjectOf({ projectIds })
      const values = {
        ...(projectId !== null ? { projectId } : projectIds !== null && { projectIds }),
        ...(listId !== undefined && { listId }),
        ...(label !== undefined && { label: [label] }),
        ...(source !== undefined && { source }),
      }
      const given = Object.keys(values) as (keyof typeof values & Given)[]
      const isRareLabel = label !== undefined && (await isRare(db, { kind: 'labels', names: [label] }))
      const { rows } = await claimNextOf(claims.length, [
        ...given,
        ...(isShortList ? ['isShortList' as const] : []),
        ...(isRareLabel ? ['isRareLabel' as const] : []),
      ])(db, {
        ...values,
        skipsExpired,
        ...valuesOf(claims),
      }).catch(namingUnavailable)
      const [{ hasExpired = false, hasMore = false } = {}] = rows
      const byPlace = new Map(rows.map(({ place, json }) => [place, json ?? undefined]))
      return { tasks: claims.map((_, index) => byPlace.get(index + 1)), hasExpired, hasMore }
    },

    /** Extends the lease of a claim whose task is locked, to so many seconds from now. */
    async renew(id: string, leaseSeconds: number): Promise<void> {
      await db
        .update(tasks)
        .set({ claimExpiresAt: sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})` })
        .where(and(eq(tasks.id, id), inReach))
    },

    /** Ends the leases of all claims of a person: the tasks are open at once, and are logged as expired. */
    async endLeasesOf(userId: string): Promise<void> {
      const isOfUser = eq(tasks.claimedById, userId)
      // Without statistics the planner takes all tasks for claimed, and would read them all.
      const some = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(isNotNull(tasks.claimExpiresAt), gt(tasks.claimExpiresAt, now), opaque(isOfUser)))
        .orderBy(asc(tasks.claimExpiresAt))
        .limit(MAX_ENDED)
      let ended: number | null
      do {
        const result = await db
          .update(tasks)
          .set({ claimExpiresAt: sql`clock_timestamp()` })
          .where(and(sql`${tasks.id} = any(array(${some}))`, isNotNull(tasks.claimExpiresAt), isOfUser))
        ended = result.rowCount
        // Fewer than were read, if others ended meanwhile.
      } while (ended)
    },

    /** Whether the lease of any claim is over. */
    async hasExpired(): Promise<boolean> {
      const { rows } = await db.execute<{ is: boolean }>(sql`select ${isAnyExpired} as is`)
      return rows[0]?.is ?? false
    },

    /**
     * At most so many claims whose lease is over, in the order in which the tasks are claimed. Skips locked tasks; that of
     * one task is waited for.
     */
    async listExpired({
      filter: { projectIds, listId } = {},
      id,
      limit,
    }: {
      filter?: ClaimFilter | undefined
      id?: string | undefined
      limit: number
    }): Promise<ExpiredClaim[]> {
      return db
        .select({
          id: tasks.id,
          projectId: tasks.projectId,
          status: tasks.status,
          claimNumber: tasks.claimNumber,
          claimExpiresAt: tasks.claimExpiresAt,
          claimedByType: tasks.claimedByType,
          claimedById: tasks.claimedById,
          claimedByName: tasks.claimedByName,
        })
        .from(tasks)
        .where(
          and(
            isNotNull(tasks.claimExpiresAt),
            lte(tasks.claimExpiresAt, now),
            inReach,
            id === undefined ? undefined : eq(tasks.id, id),
            isReached(tasks.projectId, { projectIds: projectIds ?? null }),
            listId === undefined ? undefined : eq(tasks.listId, listId),
          ),
        )
        .orderBy(desc(tasks.priority), tasks.id)
        .limit(limit)
        .for('update', id === undefined ? { skipLocked: true } : {})
    },
  }
}
