import { sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { namingViolations } from '../task-violations.ts'
import { insertingTasks, type TaskRow, tasksAndActivity } from '../tasks.ts'

/** What a source calls a task. */
export type SourceExternalId = Pick<TaskRow, 'sourceId' | 'externalId'>
type LockedSourceTask = Pick<TaskRow, 'id' | 'projectId' | 'sourceId' | 'externalId'>

const insertSourceTasks = preparedStatement<{ id: string }>(
  'insert tasks of sources',
  sql`with ${insertingTasks()} select id from made`,
)

/** The tasks of sources, in any project. */
export function sourceTasksRepository(db: Executor) {
  return {
    /**
     * Inserts tasks with their activity; returns the ids of the inserted ones. The others exist already, by their
     * external id.
     */
    async insert(rows: TaskRow[], activities: ActivityRow[]): Promise<Set<string>> {
      if (rows.length === 0) return new Set()
      const values = tasksAndActivity(rows, activities)
      const { rows: made } = await insertSourceTasks(db, values).catch(namingViolations())
      return new Set(made.map(({ id }) => id))
    },

    /** The projects of the tasks that have these external IDs. */
    async listProjectsOf(items: SourceExternalId[]): Promise<string[]> {
      if (items.length === 0) return []
      const { rows } = await db.execute<{ projectId: string }>(sql`
        select distinct project_id as "projectId" from ${tasks} join ${named(items)} on ${isNamed}`)
      return rows.map(({ projectId }) => projectId)
    },

    /** Locks the tasks that have these external IDs, and those that they are merged into, in the same order everywhere. */
    async lock(items: SourceExternalId[]): Promise<LockedSourceTask[]> {
      if (items.length === 0) return []
      const { rows } = await db.execute<LockedSourceTask>(sql`
        select id, project_id as "projectId", source_id as "sourceId", external_id as "externalId" from ${tasks}
        where id in (
          select unnest(array[id, merged_into]) from ${tasks} join ${named(items)} on ${isNamed}
        ) order by id for update`)
      return rows
    },
  }
}

const named = (items: SourceExternalId[]) => sql`
  unnest(${sql.param(items.map(({ sourceId }) => sourceId))}::uuid[],
    ${sql.param(items.map(({ externalId }) => externalId))}::text[]) as named (source, name)`
const isNamed = sql`external_id = named.name and source_id = named.source and deleted_at is null`
