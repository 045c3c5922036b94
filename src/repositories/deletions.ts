import { and, eq, or, sql } from '../db/drizzle.ts'
import { listDeletions, lists, projectDeletions, projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import { MAX_COMMENTS, withFewComments } from './few-comments.ts'
import type { Executor } from './index.ts'
import { isReached, type Reach } from './reach.ts'

export type ListDeletionRow = typeof listDeletions.$inferSelect
export type ProjectDeletionRow = typeof projectDeletions.$inferSelect

/** Held by whoever works on a deletion of a list or project, and while they pause before it. */
const DELETION_LOCK = 7_461_004

/** The turn to work on a deletion: one at a time across all instances, so that their pauses are pauses of all. */
export function deletionTurn(db: Executor) {
  return {
    /** Whether there is any deletion: one statement, while an attempt to take the turn takes three. */
    async isNeeded(): Promise<boolean> {
      const { rows } = await db.execute<{ isNeeded: boolean }>(sql`select ${anyDeletion} as "isNeeded"`)
      return rows[0]?.isNeeded ?? false
    },

    /** Takes the turn until the transaction ends. Never waits: false if another has it, or if there are no deletions. */
    async take(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(sql`
        select case when ${anyDeletion}
          then pg_try_advisory_xact_lock(${DELETION_LOCK}) else false end as "isMine"`)
      return rows[0]?.isMine ?? false
    },
  }
}

const anyDeletion = sql`(exists (select from ${listDeletions}) or exists (select from ${projectDeletions}))`

/** Lists that are being deleted: their tasks are moved first, in batches. */
export function listDeletionsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(listDeletions.projectId, reach)

  return {
    /** Starts a deletion; if one has started, only changes its destination. */
    async save(row: ListDeletionRow): Promise<void> {
      const { targetId, moveTo } = row
      await db
        .insert(listDeletions)
        .values(row)
        .onConflictDoUpdate({ target: listDeletions.listId, set: { targetId, moveTo } })
    },

    async find(listId: string): Promise<ListDeletionRow | undefined> {
      const [row] = await db
        .select()
        .from(listDeletions)
        .where(and(eq(listDeletions.listId, listId), inReach))
      return row
    },

    /**
     * Locks a deletion, any or a given one, and its project until the transaction ends. Never waits: it skips deletions
     * that another instance works on, and those of archived or locked projects.
     */
    async claim(listId: string | undefined): Promise<ListDeletionRow | undefined> {
      const condition = and(listId === undefined ? undefined : eq(listDeletions.listId, listId), inReach)
      // In random order, so that a blocked deletion does not delay the others.
      const { rows } = await db.execute<{ id: string }>(sql`
        select ${listDeletions.listId} as id from ${listDeletions} join ${projects} on ${projects.id} = ${listDeletions.projectId}
        where ${projects.archivedAt} is null and ${condition ?? sql`true`} order by random() limit 1
        for key share of projects skip locked for update of list_deletions skip locked`)
      return rows[0] && this.find(rows[0].id)
    },

    /** Locks the list's own deletion and those that move tasks to it, in the same order everywhere. */
    async listAboutForUpdate(listId: string): Promise<ListDeletionRow[]> {
      return db
        .select()
        .from(listDeletions)
        .where(and(or(eq(listDeletions.listId, listId), eq(listDeletions.targetId, listId)), inReach))
        .orderBy(listDeletions.listId)
        .for('update')
    },

    /** Changes the destination of deletions. */
    async redirect(fromId: string, toId: string): Promise<void> {
      await db
        .update(listDeletions)
        .set({ targetId: toId })
        .where(and(eq(listDeletions.targetId, fromId), inReach))
    },

    /** Stops new tasks from being routed to the list; inserts in progress still succeed. */
    async refuseNewTasks(listId: string): Promise<void> {
      await db
        .update(lists)
        .set({ isClosing: true })
        .where(and(eq(lists.id, listId), eq(lists.isClosing, false)))
    },
  }
}

/** Projects that are being deleted: their trash is emptied first, in batches. */
export function projectDeletionsRepository(db: Executor) {
  return {
    async save(row: ProjectDeletionRow): Promise<void> {
      await db.insert(projectDeletions).values(row).onConflictDoNothing()
    },

    async cancel(projectId: string): Promise<void> {
      await db.delete(projectDeletions).where(eq(projectDeletions.projectId, projectId))
    },

    async exists(projectId: string): Promise<boolean> {
      const rows = await db.select().from(projectDeletions).where(eq(projectDeletions.projectId, projectId))
      return rows.length > 0
    },

    /** Locks a deletion, any or a given one, until the transaction ends. Never waits. */
    async claim(projectId: string | undefined): Promise<ProjectDeletionRow | undefined> {
      const [row] = await db
        .select()
        .from(projectDeletions)
        .where(projectId === undefined ? undefined : eq(projectDeletions.projectId, projectId))
        .orderBy(sql`random()`)
        .limit(1)
        .for('update', { skipLocked: true })
      return row
    },

    /**
     * Removes at most `limit` deleted tasks of a project, fewer if they have many comments. Skips locked ones. Returns how
     * many it removed, and whether it left none to the next batch.
     */
    async deleteHidden(projectId: string, limit: number): Promise<{ count: number; isLast: boolean }> {
      const { rows } = await db.execute<{ found: number; removed: number }>(sql`
        with found as materialized (
          select id, comment_count from ${tasks} where project_id = ${projectId} and deleted_at is not null
          limit ${limit} for update skip locked
        ), removed as (
          delete from ${tasks} where id in (${withFewComments(sql`select * from found`)}) returning 1
        )
        select (select count(*) from found)::integer as found, (select count(*) from removed)::integer as removed`)
      const { found = 0, removed = 0 } = rows[0] ?? {}
      return { count: removed, isLast: found < limit && removed === found }
    },

    /** Whether the trash of a project has more than `count` tasks, or many comments. */
    async hasMoreHidden(projectId: string, count: number): Promise<boolean> {
      const { rows } = await db.execute<{ has_more: boolean }>(sql`
        select count(*) > ${count} or sum(comment_count) > ${MAX_COMMENTS} as has_more from (
          select comment_count from ${tasks} where project_id = ${projectId} and deleted_at is not null
          limit ${count}::integer + 1
        ) as hidden`)
      return rows[0]?.has_more ?? false
    },
  }
}
