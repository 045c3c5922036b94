import { type AnyColumn, and, eq, isNull, notExists, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { activity } from '../../db/tables/activity.ts'
import { purgedItems, syncItems } from '../../db/tables/codehost.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { SyncedTask } from '../../domain/codehost/task.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'
import { endingClaims, taskColumns } from '../task-columns.ts'
import { activitySet, type TaskRow, taskSet, tasksAndActivity } from '../tasks.ts'
import { currentSnapshot, isStoredSince, type Snapshot } from './stored-since.ts'

const { description, notes, metadata, ...short } = taskColumns

type StateColumn = 'status' | 'mergedInto' | 'statusBeforeMerge' | 'codehostState' | 'closedReason'

/** A locked task whose comments change. */
export type CommentedTask = Pick<TaskRow, 'id' | 'codehostNumber' | 'deletedAt' | 'commentCount' | 'question'>

const upsertTasks = preparedStatement<object>(
  'upsert tasks',
  sql`
    with written as (
      insert into ${tasks} (${taskSet.names}) ${taskSet.select('tasks')}
      on conflict (project_id, codehost_repository_id, codehost_number) where codehost_number is not null
      do update set title = excluded.title, description = excluded.description,
        external_url = excluded.external_url, labels = excluded.labels, assignees = excluded.assignees,
        codehost_kind = excluded.codehost_kind, codehost_state = excluded.codehost_state,
        closed_reason = excluded.closed_reason, source_state = excluded.source_state,
        author_name = excluded.author_name, author_url = excluded.author_url, is_draft = excluded.is_draft,
        opened_at = excluded.opened_at, host_updated_at = excluded.host_updated_at,
        triaged = excluded.triaged, snoozed_until = excluded.snoozed_until,
        question = excluded.question,
        status = excluded.status, status_before_merge = excluded.status_before_merge, completed_at = excluded.completed_at,
        ${endingClaims(sql`excluded.status <> tasks.status`)},
        updated_at = excluded.updated_at, version = excluded.version
      returning 1
    ), logged as (
      insert into ${activity} (${activitySet.names}) ${activitySet.select('activities')}
    )
    select from written`,
)

interface GoneItem {
  repositoryId: number
  number: number
  sourceState: 'transferred' | 'deleted'
  now: Date
}

/** The tasks of a sync, by their numbers at the code host. */
export function syncedTasksRepository(db: Executor, reach: Reach) {
  const inReach = isReached(tasks.projectId, reach)
  const isOf = (projectId: string, repositoryId: number) =>
    and(eq(tasks.projectId, projectId), eq(tasks.codehostRepositoryId, repositoryId), inReach)

  return {
    /** The snapshot before a request to the code host: what is stored later may be newer than its response. */
    snapshot: (): Promise<Snapshot> => currentSnapshot(db),

    /** Existing tasks, including deleted ones, locked until the transaction ends. */
    async listKnownForUpdate(
      projectId: string,
      {
        repositoryId,
        numbers,
        asOf,
      }: { repositoryId: number; numbers: number[]; asOf?: Snapshot | undefined },
    ): Promise<(SyncedTask & { /** `asOf` that snapshot. */ isStoredSince: boolean })[]> {
      return db
        .select({
          ...short,
          descriptionHash: sql<
            string | null
          >`encode(sha256(convert_to(${tasks.description}, 'UTF8')), 'hex')`,
          isStoredSince: isStoredSince(tasks, asOf),
        })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), isOneOf(tasks.codehostNumber, numbers)))
        .orderBy(tasks.id)
        .for('update')
    },

    /** Null if there is no task. */
    async findVersion(
      projectId: string,
      { repositoryId, number }: { repositoryId: number; number: number },
    ): Promise<number | null> {
      const [row] = await db
        .select({ version: tasks.version })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), eq(tasks.codehostNumber, number)))
      return row?.version ?? null
    },

    /** What a write of its state depends on, of a task that may be deleted. */
    async findState(id: string): Promise<Pick<TaskRow, StateColumn> | undefined> {
      const { status, mergedInto, statusBeforeMerge, codehostState, closedReason } = tasks
      const [row] = await db
        .select({ status, mergedInto, statusBeforeMerge, codehostState, closedReason })
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach))
      return row
    },

    /** The existing tasks, including deleted ones, locked as above, for changes of their comments. */
    async lockForComments(
      projectId: string,
      { repositoryId, numbers }: { repositoryId: number; numbers: number[] },
    ): Promise<CommentedTask[]> {
      const { id, codehostNumber, deletedAt, commentCount, question } = tasks
      return db
        .select({ id, codehostNumber, deletedAt, commentCount, question })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), isOneOf(tasks.codehostNumber, numbers)))
        .orderBy(tasks.id)
        .for('update')
    },

    /** Which of these have no task and never had one. */
    async listUnknown(
      projectId: string,
      { repositoryId, numbers }: { repositoryId: number; numbers: number[] },
    ): Promise<number[]> {
      const known = await db
        .select({ number: tasks.codehostNumber })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), isOneOf(tasks.codehostNumber, numbers)))
      const purged = await this.listPurged(projectId, { repositoryId, numbers })
      const all = new Set([...known.map(({ number }) => number), ...purged])
      return numbers.filter((number) => !all.has(number))
    },

    /** Which of these were purged after their deletion: only their numbers are stored. */
    async listPurged(
      projectId: string,
      { repositoryId, numbers }: { repositoryId: number; numbers: number[] },
    ): Promise<number[]> {
      const rows = await db
        .select({ number: purgedItems.codehostNumber })
        .from(purgedItems)
        .where(
          and(
            eq(purgedItems.projectId, projectId),
            eq(purgedItems.codehostRepositoryId, repositoryId),
            isOneOf(purgedItems.codehostNumber, numbers),
          ),
        )
      return rows.map(({ number }) => number)
    },

    /**
     * Writes the new and changed tasks of a page with their activity, in one statement. For existing tasks it writes only
     * the columns of the code host: list, priority and notes are kept.
     */
    async upsert(rows: TaskRow[], activities: ActivityRow[]): Promise<void> {
      if (rows.length === 0) return
      const { rows: written } = await upsertTasks(db, tasksAndActivity(rows, activities))
      if (written.length !== rows.length)
        throw new Error('The number of written tasks differs from the page.')
    },

    /** Counts the present tasks of a repository, and those of them that a run did not see. */
    async countPresent(
      projectId: string,
      { repositoryId, runId }: { repositoryId: number; runId: string },
    ): Promise<{ present: number; vanished: number }> {
      const [row] = await db
        .select({
          present: sql<number>`count(*)::integer`,
          vanished: sql<number>`(count(*) filter (where ${isUnseen(runId)}))::integer`,
        })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), isPresent))
      return row ?? { present: 0, vanished: 0 }
    },

    /** Numbers that the run did not see, lowest first. */
    async listVanished(
      projectId: string,
      { repositoryId, runId, limit }: { repositoryId: number; runId: string; limit: number },
    ): Promise<number[]> {
      const rows = await db
        .select({ number: tasks.codehostNumber })
        .from(tasks)
        .where(and(isOf(projectId, repositoryId), isPresent, isUnseen(runId)))
        .orderBy(tasks.codehostNumber)
        .limit(limit)
      return rows.flatMap(({ number }) => number ?? [])
    },

    /** Marks an item's task as gone; returns the task, or undefined if nothing changed. */
    async markGone(
      projectId: string,
      { repositoryId, number, ...change }: GoneItem,
    ): Promise<{ id: string } | undefined> {
      const [row] = await db
        .update(tasks)
        .set({
          sourceState: change.sourceState,
          updatedAt: change.now,
          version: sql`${tasks.version} + 1`,
        })
        .where(and(isOf(projectId, repositoryId), eq(tasks.codehostNumber, number), isPresent))
        .returning({ id: tasks.id })
      return row
    },
  }

  function isUnseen(runId: string) {
    return notExists(
      db
        .select({ one: sql`1` })
        .from(syncItems)
        .where(and(eq(syncItems.runId, runId), eq(syncItems.number, tasks.codehostNumber))),
    )
  }
}

/** An array is one parameter: building and planning a hundred takes longer than the query. */
const isOneOf = (column: AnyColumn, numbers: number[]) =>
  sql`${column} = any(${sql.param(numbers)}::integer[])`

const isPresent = and(isNull(tasks.deletedAt), eq(tasks.sourceState, 'present'))
