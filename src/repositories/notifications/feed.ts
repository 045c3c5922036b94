import { and, eq, inArray, or, type SQL, sql } from '../../db/drizzle.ts'
import { activity } from '../../db/tables/activity.ts'
import { changeFeed, changes } from '../../db/tables/changes.ts'
import { comments } from '../../db/tables/comments.ts'
import {
  notificationProgress,
  notifications,
  taskFollowers,
  taskMentions,
} from '../../db/tables/notifications.ts'
import { users } from '../../db/tables/people.ts'
import { pipes } from '../../db/tables/pipes.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type {
  Follower,
  Mention,
  NewNotification,
  NotifiableChange,
  NotifiablePerson,
} from '../../domain/notifications.ts'
import type { Executor } from '../index.ts'

/** The channel for notices that people have other notifications: their IDs. */
export const NOTIFICATION_CHANGES = 'inlet_notifications'

type Progress = Pick<typeof notificationProgress.$inferSelect, 'position' | 'historyUntil'>

interface Batch {
  /** Positions that are read at most. */
  positions: number
  /** Changes that may concern somebody, at most. */
  limit: number
}

interface FoundChanges {
  changes: NotifiableChange[]
  /** All up to here was read. */
  end: number
  isMore: boolean
}

/** An ID has 36 characters, and a notice less than 8,000. */
const MAX_IDS_OF_NOTICE = 150

/** Tells all instances that people have other notifications. */
export async function announceNotifications(db: Executor, userIds: string[]): Promise<void> {
  for (let start = 0; start < userIds.length; start += MAX_IDS_OF_NOTICE) {
    const ids = userIds.slice(start, start + MAX_IDS_OF_NOTICE)
    await db.execute(sql`select pg_notify(${NOTIFICATION_CHANGES}, ${JSON.stringify(ids)})`)
  }
}

/** Writes notifications from the changes, outside any reach. */
export function notificationFeedRepository(db: Executor) {
  return {
    /** Up to where people were notified; locked until the transaction ends. Undefined while another instance works. */
    async lock(): Promise<Progress | undefined> {
      const { position, historyUntil } = notificationProgress
      const [row] = await db
        .select({ position, historyUntil })
        .from(notificationProgress)
        .for('update', { skipLocked: true })
      return row
    },

    /** Whether there is anybody to notify. */
    async isAnybodyActive(): Promise<boolean> {
      const rows = await db.select({ id: users.id }).from(users).where(eq(users.isActive, true)).limit(1)
      return rows.length > 0
    },

    /** The changes after that. What the code host names are its logins, and no people. */
    async list({ position, historyUntil }: Progress, { positions, limit }: Batch): Promise<FoundChanges> {
      const { rows } = await db.execute<ChangeColumns & { end: number; count: number }>(sql`
        with page as materialized (
          select position, activity_id from ${changes} where position > ${position}
          order by position limit ${positions}
        ), relevant as materialized (
          select page.position, logged.*, ${ASSIGNED} as assigned from page cross join lateral (
            select type, task_id, actor_type, actor_id, actor_name, metadata, created_at from ${activity}
            where id = page.activity_id and sequence > ${historyUntil} and ${IS_NOTIFIABLE} limit 1
          ) as logged
        ), found as materialized (
          select * from relevant where type <> 'task.created' or actor_type = 'user' or assigned <> '[]'
          order by position limit ${limit}
        )
        select (select count(*)::integer from page) as count,
          (select max(position)::float8 from page) as end, found.position::float8 as position, type, task_id as "taskId",
          actor_type as "actorType", actor_id as "actorId", actor_name as "actorName",
          extract(epoch from created_at)::float8 * 1000 as "createdMs",
          coalesce(metadata -> 'changes' ? 'notes', false) as "isOfNotes", assigned,
          metadata ->> 'commentId' as "commentId", metadata -> 'needsAnswer' = 'true' as "isQuestion",
          case when type = 'task.claim_expired' and metadata #>> '{by,type}' = 'user' then metadata #>> '{by,id}' end
            as "claimantId"
        from (values (1)) as always left join found on true
        order by found.position`)
      const count = rows[0]?.count ?? 0
      const found = rows.filter(({ type }) => type !== null)
      const isFull = found.length === limit
      const end = (isFull ? found.at(-1)?.position : rows[0]?.end) ?? position
      return { changes: found.map(toChange), end, isMore: isFull || count === positions }
    },

    /** The projects of those tasks that exist. */
    async projectsOf(taskIds: string[]): Promise<Map<string, string>> {
      const { id, projectId } = tasks
      const rows = await db.select({ id, projectId }).from(tasks).where(inArray(id, taskIds))
      return new Map(rows.map((row) => [row.id, row.projectId]))
    },

    async assigneesOf(taskIds: string[]): Promise<Map<string, string[]>> {
      const { id, assignees } = tasks
      const rows = await db.select({ id, assignees }).from(tasks).where(inArray(id, taskIds))
      return new Map(rows.map((row) => [row.id, row.assignees]))
    },

    /** Of the comments that exist: the text, empty without a mention of a person. */
    async textsOfComments(ids: string[]): Promise<Map<string, string>> {
      const { id, body, authorType } = comments
      const text = sql<string>`case when ${authorType} <> 'codehost' and ${body} like '%@%' then ${body} else '' end`
      const rows = await db.select({ id, text }).from(comments).where(inArray(id, ids))
      return new Map(rows.map((row) => [row.id, row.text]))
    },

    /** Those that mention somebody, by task. */
    async notesOf(taskIds: string[]): Promise<Map<string, string>> {
      const { id, notes } = tasks
      const rows = await db
        .select({ id, notes: sql<string>`${notes}` })
        .from(tasks)
        .where(and(inArray(id, taskIds), sql`${notes} like '%@%'`))
      return new Map(rows.map((row) => [row.id, row.notes]))
    },

    /** Active people with these usernames or IDs, and owners. */
    async people({
      usernames,
      ids,
      hasOwners,
    }: {
      usernames: string[]
      ids: string[]
      hasOwners: boolean
    }): Promise<NotifiablePerson[]> {
      const { id, username, role, projectIds } = users
      const isNamed = [
        usernames.length > 0 ? sql`${username} = any(${sql.param(usernames)}::text[])` : undefined,
        ids.length > 0 ? sql`${id} = any(${sql.param(ids)}::uuid[])` : undefined,
        hasOwners ? eq(role, 'owner') : undefined,
      ].filter((condition): condition is SQL => condition !== undefined)
      if (isNamed.length === 0) return []
      return db
        .select({ id, username, isOwner: sql<boolean>`${role} = 'owner'`, projectIds })
        .from(users)
        .where(and(users.isActive, or(...isNamed)))
    },

    async followersOf(taskIds: string[]): Promise<Follower[]> {
      return db.select().from(taskFollowers).where(inArray(taskFollowers.taskId, taskIds))
    },

    async mentionsIn(sourceIds: string[]): Promise<Mention[]> {
      return db.select().from(taskMentions).where(inArray(taskMentions.sourceId, sourceIds))
    },

    /** Adds them to the unread ones of the same person, task and reason, in the order in which requests lock these. */
    async insert(rows: (NewNotification & { id: string })[]): Promise<void> {
      const ofTasks = rows.filter(({ taskId }) => taskId !== null)
      const ofService = rows.filter(({ taskId }) => taskId === null)
      for (const [some, target] of [
        [ofTasks, sql`(user_id, task_id, reason) where read_at is null and task_id is not null`],
        [ofService, sql`(user_id, reason) where read_at is null and task_id is null`],
      ] as const) {
        if (some.length > 0) await upsert(some, target)
      }
    },

    /** An explicit decision since then stays. */
    async follow(rows: Follower[]): Promise<void> {
      if (rows.length === 0) return
      await db
        .insert(taskFollowers)
        .values(rows)
        .onConflictDoUpdate({
          target: [taskFollowers.taskId, taskFollowers.userId],
          set: { isFollowing: true, changedAt: sql`excluded.changed_at` },
          setWhere: sql`not ${taskFollowers.isFollowing} and ${taskFollowers.changedAt} < excluded.changed_at`,
        })
    },

    async insertMentions(rows: Mention[]): Promise<void> {
      if (rows.length > 0) await db.insert(taskMentions).values(rows).onConflictDoNothing()
    },

    /** Marks what owners were notified of until a time as read, if nothing fails any more. Returns whom it concerns. */
    async readRecovered(until: Date, now: Date): Promise<string[]> {
      const { rows } = await db.execute<{ userId: string }>(sql`
        update ${notifications} set read_at = ${now.toISOString()}
        where task_id is null and read_at is null and reason = 'broken' and created_at <= ${until.toISOString()}
          and (select kind from ${pipes} where is_logged_as_failing order by kind, id limit 1) is null
        returning user_id as "userId"`)
      return rows.map(({ userId }) => userId)
    },

    /** Notes that people were notified of all up to a position. */
    async advance(position: number): Promise<void> {
      await db.update(notificationProgress).set({ position })
    },

    /** The same for all that has a position. */
    async skip(): Promise<void> {
      await db.execute(sql`
        update ${notificationProgress} set position = feed.last_position from ${changeFeed} as feed
        where position < feed.last_position`)
    },

    announce: (userIds: string[]) => announceNotifications(db, userIds),
  }

  async function upsert(rows: (NewNotification & { id: string })[], target: SQL): Promise<void> {
    await db.execute(sql`
      insert into ${notifications}
        (id, user_id, reason, task_id, count, actor_type, actor_id, actor_name, created_at)
      select id, "userId", reason, "taskId", count, actor ->> 'type', (actor ->> 'id')::uuid, actor ->> 'name', "createdAt"
      from json_to_recordset(${JSON.stringify(rows)}::json) as n (id uuid, "userId" uuid, reason text, "taskId" uuid,
        count integer, actor json, "createdAt" timestamptz)
      order by "userId", "taskId", reason
      on conflict ${target} do update set id = excluded.id, count = notifications.count + excluded.count,
        actor_type = excluded.actor_type, actor_id = excluded.actor_id, actor_name = excluded.actor_name,
        created_at = excluded.created_at`)
  }
}

interface ChangeColumns extends Record<string, unknown> {
  position: number
  type: string
  taskId: string | null
  actorType: NotifiableChange['actor']['type']
  actorId: string | null
  actorName: string
  createdMs: number
  isOfNotes: boolean
  assigned: string[] | null
  commentId: string | null
  isQuestion: boolean | null
  claimantId: string | null
}

const toChange = ({ actorType, actorId, actorName, createdMs, assigned, ...row }: ChangeColumns) => ({
  type: row.type,
  taskId: row.taskId,
  actor: { type: actorType, id: actorId, name: actorName },
  createdAt: new Date(createdMs),
  assignees: assigned ?? [],
  isOfNotes: row.isOfNotes,
  commentId: row.commentId,
  isQuestion: row.isQuestion ?? false,
  claimantId: row.claimantId,
})

const IS_NOTIFIABLE = sql.raw(`(
  type in ('comment.created', 'comment.updated', 'task.claim_expired', 'pipe.failed', 'pipe.recovered')
  or type = 'task.created' and actor_type <> 'codehost'
  or type = 'task.updated' and actor_type <> 'codehost' and metadata -> 'changes' ?| array['assignees', 'notes'])`)

/**
 * The names that a change adds to the assignees. The activity of a create does not have them: they are the ones before the
 * next change of them, or else those that the task has now.
 */
const ASSIGNED = sql`
  case type
    when 'task.updated' then (
      select coalesce(jsonb_agg(name), '[]') from jsonb_array_elements_text(metadata #> '{changes,assignees,to}') as name
      where lower(name) not in (
        select lower(before) from jsonb_array_elements_text(metadata #> '{changes,assignees,from}') as before)
    )
    when 'task.created' then coalesce((
      select metadata #> '{changes,assignees,from}' from ${activity} as later
      where later.task_id = logged.task_id and later.type = 'task.updated' and later.metadata -> 'changes' ? 'assignees'
      order by later.id limit 1
    ), (select to_jsonb(assignees) from ${tasks} where id = logged.task_id))
  end`
