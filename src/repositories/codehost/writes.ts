import { and, eq, getTableColumns, inArray, isNull, lte, or, type SQL, sql } from '../../db/drizzle.ts'
import { codehostConnections } from '../../db/tables/codehost.ts'
import { codehostWrites } from '../../db/tables/codehost-writes.ts'
import { projects } from '../../db/tables/projects.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { UnwrittenState } from '../../domain/codehost/write-back.ts'
import type { Executor } from '../index.ts'
import { utc } from '../task-json.ts'
import type { TaskRow } from '../tasks.ts'
import type { ConnectionRow } from './connections.ts'
import { databaseNow, databaseTime, inMs } from './database-time.ts'

export type WriteRow = typeof codehostWrites.$inferSelect

/** A write that one worker has, until its lease ends. */
export type LeasedWrite = WriteRow & { leaseUntil: Date }

/** A change that has to be written. */
export type NewWrite = Pick<WriteRow, 'id' | 'connectionId' | 'taskId' | 'kind' | 'commentId'>

/** The write of a task's state, as far as items that come in depend on it. */
export interface StateWrite extends UnwrittenState {
  taskId: string
}

/** The channel for notices that something has to be written. */
export const CODEHOST_WRITES = 'inlet_codehost_writes'

const isOfState = eq(codehostWrites.kind, 'state')

const IS_UNWRITTEN = inArray(codehostWrites.status, ['pending', 'failed'])

/**
 * The outbox of write-back. A transaction that locks its rows locks their tasks before, so that no two wait for each other.
 * Its times are the database's: with another clock, an instance would send too early, or never.
 */
export function codehostWritesRepository(db: Executor) {
  const isOfTasks = (ids: string[]) => sql`${codehostWrites.taskId} = any(${sql.param(ids)}::uuid[])`
  const isLeased = ({ id, leaseUntil }: LeasedWrite) =>
    and(eq(codehostWrites.id, id), eq(codehostWrites.leaseUntil, leaseUntil))

  /** Locks the tasks of writes, in the order of all who lock several; returns their ids. */
  async function lockTasks(ofWrites: SQL | undefined): Promise<string[]> {
    const found = db.select({ id: codehostWrites.taskId }).from(codehostWrites).where(ofWrites)
    const locked = await db
      .select({ id: tasks.id })
      .from(tasks)
      .where(inArray(tasks.id, found))
      .orderBy(tasks.id)
      .for('update')
    return locked.map(({ id }) => id)
  }

  /** As soon as nothing of them can still arrive. Returns their tasks, once each. */
  async function makeDue(condition: SQL | undefined): Promise<string[]> {
    const { arrivesUntil, status } = codehostWrites
    const rows = await db
      .update(codehostWrites)
      .set({
        status: 'pending',
        attempts: 0,
        firstAttemptAt: null,
        nextAttemptAt: sql`greatest(${databaseTime}, ${arrivesUntil})`,
        createdAt: sql`case when ${status} = 'pending' then ${codehostWrites.createdAt} else ${databaseTime} end`,
        error: sql`case when ${arrivesUntil} > ${databaseTime} then ${codehostWrites.error} end`,
        payload: sql`${codehostWrites.payload} - 'isUnread'`,
        finishedAt: null,
      })
      .where(condition)
      .returning({ taskId: codehostWrites.taskId })
    return [...new Set(rows.map(({ taskId }) => taskId))]
  }

  return {
    /** Adds writes, which are due now. One that is pending already is kept: what it sends is decided then. */
    async add(rows: NewWrite[]): Promise<void> {
      if (rows.length === 0) return
      await db.execute(sql`
        insert into ${codehostWrites}
          (id, connection_id, task_id, kind, comment_id, payload, status, attempts, next_attempt_at, created_at)
        select w.id, w."connectionId", w."taskId", w.kind, w."commentId", '{}', 'pending', 0, ${databaseTime},
          ${databaseTime}
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as w(id uuid, "connectionId" uuid, "taskId" uuid, kind text, "commentId" uuid)
        on conflict (task_id, comment_id) do update set kind = excluded.kind,
          payload = case when codehost_writes.status = 'done' then '{}' else codehost_writes.payload end,
          status = 'pending', attempts = 0, first_attempt_at = null,
          next_attempt_at = greatest(excluded.next_attempt_at, codehost_writes.arrives_until),
          lease_until = null, error = null, created_at = excluded.created_at, finished_at = null
        where codehost_writes.status <> 'pending'`)
      await this.announce()
    },

    /** Adds the deletion of a comment, instead of what else is to be written of it. */
    async addDeletion(row: NewWrite & { externalId: string | null }): Promise<void> {
      const { externalId, ...write } = row
      const payload = externalId === null ? {} : { externalId }
      const values = {
        ...write,
        kind: 'comment_deleted' as const,
        payload,
        createdAt: databaseTime,
        nextAttemptAt: databaseTime,
      }
      await db
        .insert(codehostWrites)
        .values({ ...values, status: 'pending', attempts: 0 })
        .onConflictDoUpdate({
          target: [codehostWrites.taskId, codehostWrites.commentId],
          set: {
            kind: 'comment_deleted',
            payload: sql`${codehostWrites.payload} || excluded.payload`,
            status: 'pending',
            attempts: 0,
            firstAttemptAt: null,
            error: null,
            finishedAt: null,
            createdAt: sql`case when ${codehostWrites.status} = 'pending' then ${codehostWrites.createdAt} else excluded.created_at end`,
            nextAttemptAt: sql`case when ${codehostWrites.status} = 'pending' then ${codehostWrites.nextAttemptAt}
              else greatest(excluded.next_attempt_at, ${codehostWrites.arrivesUntil}) end`,
          },
        })
      await this.announce()
    },

    /** Which of these comments, of any task, were or will be written. */
    async listComments(commentIds: string[]): Promise<Pick<WriteRow, 'taskId' | 'commentId' | 'payload'>[]> {
      if (commentIds.length === 0) return []
      const { taskId, commentId, payload } = codehostWrites
      return db
        .select({ taskId, commentId, payload })
        .from(codehostWrites)
        .where(sql`${commentId} = any(${sql.param(commentIds)}::uuid[])`)
    },

    async has({ taskId, commentId }: { taskId: string; commentId: string }): Promise<boolean> {
      const rows = await db
        .select({ id: codehostWrites.id })
        .from(codehostWrites)
        .where(and(eq(codehostWrites.taskId, taskId), eq(codehostWrites.commentId, commentId)))
      return rows.length > 0
    },

    /** Notifies every instance at the commit. Notices lock commits, but these changes are rare enough. */
    async announce(): Promise<void> {
      await db.execute(sql`select pg_notify(${CODEHOST_WRITES}, '')`)
    },

    /** The writes of states that are pending or failed: until then, the status here is another than at the code host. */
    async listUnwrittenStates(taskIds: string[]): Promise<StateWrite[]> {
      const rows = await db
        .select({ taskId: codehostWrites.taskId, payload: codehostWrites.payload })
        .from(codehostWrites)
        .where(and(isOfTasks(taskIds), isOfState, IS_UNWRITTEN))
      return rows.map(({ taskId, payload: { sent, before } }) => ({ taskId, sent, before }))
    },

    /** Ends writes of states: without an error they are done, with one they were given up. */
    async endStates(taskIds: string[], { error }: Pick<WriteRow, 'error'>): Promise<void> {
      if (taskIds.length === 0) return
      await db
        .update(codehostWrites)
        .set({ status: 'done', error, finishedAt: databaseTime, leaseUntil: null })
        .where(and(isOfTasks(taskIds), isOfState, IS_UNWRITTEN))
      await this.summarize(taskIds)
    },

    /** Locks a task, which may be deleted, before its writes. */
    async lockTask(id: string): Promise<void> {
      await db.select({ id: tasks.id }).from(tasks).where(eq(tasks.id, id)).for('update')
    },

    /** Deletes what is not written yet. Returns how many writes that were. */
    async cancel(
      connectionId: string,
      { kinds }: { kinds?: WriteRow['kind'][] | undefined } = {},
    ): Promise<number> {
      const isUnwritten = and(
        eq(codehostWrites.connectionId, connectionId),
        IS_UNWRITTEN,
        kinds && inArray(codehostWrites.kind, kinds),
      )
      const locked = await lockTasks(isUnwritten)
      const rows = await db
        .delete(codehostWrites)
        .where(and(isUnwritten, isOfTasks(locked)))
        .returning({ taskId: codehostWrites.taskId })
      await this.summarize([...new Set(rows.map(({ taskId }) => taskId))])
      return rows.length
    },

    /** Stores on the tasks what their writes are together; returns it. */
    async summarize(taskIds: string[]): Promise<Map<string, Pick<TaskRow, 'writeBack'>>> {
      if (taskIds.length === 0) return new Map()
      const { rows } = await db.execute<Pick<TaskRow, 'id' | 'writeBack'> & Record<string, unknown>>(sql`
        update ${tasks} set write_back = (
          select jsonb_build_object('error', error, 'state',
              case when status = 'done' and error is not null then 'dropped' else status end) ||
            case when status = 'pending' and next_attempt_at > ${databaseTime}
              then jsonb_build_object('nextAttemptAt', ${sql.raw(utc('next_attempt_at'))}) else '{}' end
          from ${codehostWrites}
          where task_id = ${tasks.id}
          order by case status when 'failed' then 1 when 'pending' then 2 else 3 end, finished_at desc, error is null
          limit 1)
        where ${tasks.id} = any(${sql.param(taskIds)}::uuid[])
        returning ${tasks.id} as id, write_back as "writeBack"`)
      return new Map(rows.map(({ id, writeBack }) => [id, { writeBack }]))
    },

    /**
     * Makes failed writes of a task, and those that wait for their next attempt, due as soon as nothing of them can still
     * arrive: two requests for one comment would post it twice. Returns whether there are any.
     */
    async retry(taskId: string): Promise<boolean> {
      const taskIds = await makeDue(and(eq(codehostWrites.taskId, taskId), or(isFailed, isWaiting)))
      if (taskIds.length > 0) await this.announce()
      return taskIds.length > 0
    },

    /** The same for failed writes of states. They may need no change any more: then what the code host has is adopted. */
    async resumeStates(taskIds: string[]): Promise<void> {
      const resumed = await makeDue(and(isOfTasks(taskIds), isOfState, isFailed))
      if (resumed.length > 0) await this.announce()
    },

    /**
     * The same for the writes of a connection that lacked access: those whose issue could not be read, and those with one
     * of these errors.
     */
    async resume(connectionId: string, { codes = [] }: { codes?: readonly string[] } = {}): Promise<void> {
      const { payload, error } = codehostWrites
      await this.makeAgain(
        and(
          eq(codehostWrites.connectionId, connectionId),
          or(isFailed, isWaiting),
          sql`(${payload} ? 'isUnread' or ${error} ->> 'code' = any(${sql.param(codes)}::text[]))`,
        ),
      )
    },

    /** The same for writes that were given up because the issues of these tasks were gone. */
    async resumeGone(taskIds: string[]): Promise<void> {
      if (taskIds.length === 0) return
      const { error } = codehostWrites
      await this.makeAgain(
        and(
          isOfTasks(taskIds),
          eq(codehostWrites.status, 'done'),
          sql`${error} ->> 'code' in ('issue_deleted', 'issue_transferred')`,
        ),
      )
    },

    /** Makes writes due. Locks their tasks before. */
    async makeAgain(condition: SQL | undefined): Promise<void> {
      const locked = await lockTasks(condition)
      if (locked.length === 0) return
      const taskIds = await makeDue(and(condition, isOfTasks(locked)))
      await this.summarize(taskIds)
      await this.announce()
    },

    /** Connections with writes that are due; archived projects wait. */
    async listDueConnections(): Promise<ConnectionRow[]> {
      const due = db.select({ connectionId: codehostWrites.connectionId }).from(codehostWrites).where(isDue)
      return db
        .select(getTableColumns(codehostConnections))
        .from(codehostConnections)
        .innerJoin(projects, eq(projects.id, codehostConnections.projectId))
        .where(and(inArray(codehostConnections.id, due), isNull(projects.archivedAt)))
        .orderBy(codehostConnections.id)
    },

    /** Leases the write of these connections that is due longest, unless an earlier one of its task is still pending. */
    async claim(options: {
      connectionIds: string[]
      leaseMs: number
    }): Promise<(LeasedWrite & { number: number }) | undefined> {
      const { connectionIds, leaseMs } = options
      // Not by comparing each with the others of its task: 5,000 of one took seconds.
      const earliest = sql`select distinct on (task_id) id from ${codehostWrites}
        where connection_id = any(${sql.param(connectionIds)}::uuid[]) and status = 'pending'
        order by task_id, created_at, id`
      const { rows } = await db.execute<{ id: string; number: number }>(sql`
        update ${codehostWrites} set lease_until = ${inMs(leaseMs)}
        from ${tasks} where ${tasks.id} = task_id and ${codehostWrites.id} = (
          select due.id from ${codehostWrites} as due
          join ${codehostConnections} on ${codehostConnections.id} = due.connection_id
          join ${projects} on ${projects.id} = ${codehostConnections.projectId} and ${projects.archivedAt} is null
          where due.id in (${earliest}) and due.status = 'pending'
            and due.next_attempt_at <= ${databaseTime}
            and (due.lease_until is null or due.lease_until <= ${databaseTime})
          order by due.next_attempt_at, due.created_at, due.id limit 1 for update of due skip locked)
        returning ${codehostWrites.id} as id, ${tasks.codehostNumber} as number`)
      const [claimed] = rows
      if (!claimed) return undefined
      const row = await this.find(claimed.id)
      return row?.leaseUntil ? { ...row, leaseUntil: row.leaseUntil, number: claimed.number } : undefined
    },

    async find(id: string): Promise<WriteRow | undefined> {
      const [row] = await db.select().from(codehostWrites).where(eq(codehostWrites.id, id))
      return row
    },

    /** The time of the database. */
    now: (): Promise<Date> => databaseNow(db),

    /**
     * Changes a write that is still leased and pending, and stores on its task what that means for it: two statements of one
     * transaction, which has locked the task.
     */
    async update(write: LeasedWrite, change: Partial<WriteRow>): Promise<void> {
      const rows = await db
        .update(codehostWrites)
        .set(change)
        .where(and(isLeased(write), eq(codehostWrites.status, 'pending')))
        .returning({ id: codehostWrites.id })
      if (rows.length > 0) await this.summarize([write.taskId])
    },

    /** Deletes a leased write that must not be made any more, as `cancel` does with many. */
    async delete(write: LeasedWrite): Promise<void> {
      await db.delete(codehostWrites).where(isLeased(write))
      await this.summarize([write.taskId])
    },

    /** The write as it is now, which a change here may have made another, if it is still leased and pending. Locks it. */
    async findLeased(write: LeasedWrite): Promise<LeasedWrite | undefined> {
      const [row] = await db
        .select()
        .from(codehostWrites)
        .where(and(isLeased(write), eq(codehostWrites.status, 'pending')))
        .for('update')
      return row && { ...row, leaseUntil: write.leaseUntil }
    },
  }
}

const isFailed = eq(codehostWrites.status, 'failed')

const isUnleased = or(isNull(codehostWrites.leaseUntil), lte(codehostWrites.leaseUntil, databaseTime))

/** For its next attempt. */
const isWaiting = and(eq(codehostWrites.status, 'pending'), isUnleased)

const isDue = and(
  eq(codehostWrites.status, 'pending'),
  lte(codehostWrites.nextAttemptAt, databaseTime),
  isUnleased,
)
