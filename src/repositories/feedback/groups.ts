import { sql } from '../../db/drizzle.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { Executor } from '../index.ts'

/** A note in a project: equal ones may be about the same problem. */
export interface NoteOfProject {
  projectId: string
  noteKey: string
}

/** How many reports a task gets. */
export interface NewReports {
  into: string
  projectId: string
  count: number
}

/** Feedback with equal notes. It belongs to the whole service, so it has no reach. */
export function feedbackGroupsRepository(db: Executor) {
  const arrays = (notes: NoteOfProject[]) => sql`
    unnest(${sql.param(notes.map(({ projectId }) => projectId))}::uuid[],
      ${sql.param(notes.map(({ noteKey }) => noteKey))}::text[]) as note (project_id, note_key)`
  const isOpen = sql`status <> 'done' and deleted_at is null`

  return {
    /** Locks the notes until the transaction ends, in the same order everywhere. */
    async lock(notes: NoteOfProject[]): Promise<void> {
      await db.execute(sql`
        select pg_advisory_xact_lock(key) from (
          select distinct hashtextextended('feedback ' || note.project_id || note.note_key, 0) as key
          from ${arrays(notes)} order by key
        ) as locks`)
    },

    /** The oldest open feedback with each note. */
    async listOldestOpen(notes: NoteOfProject[]): Promise<(NoteOfProject & { taskId: string })[]> {
      const { rows } = await db.execute<{ projectId: string; noteKey: string; taskId: string }>(sql`
        select note.project_id as "projectId", note.note_key as "noteKey", oldest.id as "taskId"
        from ${arrays(notes)} cross join lateral (
          select id from ${tasks}
          where tasks.project_id = note.project_id and tasks.note_key = note.note_key and ${isOpen}
          order by id limit 1
        ) as oldest`)
      return rows
    },

    /** Counts reports of tasks that are still open and in their project; returns these with their number of reports. */
    async addReports(targets: NewReports[]): Promise<{ id: string; reportCount: number }[]> {
      const { rows } = await db.execute<{ id: string; reportCount: number }>(sql`
        with added as materialized (
          select * from unnest(${sql.param(targets.map(({ into }) => into))}::uuid[],
            ${sql.param(targets.map(({ projectId }) => projectId))}::uuid[],
            ${sql.param(targets.map(({ count }) => count))}::integer[]) as added (into_id, in_project, number)
        ), locked as materialized (
          select id from ${tasks} where id = any(array(select into_id from added)) order by id for update
        )
        update ${tasks} set report_count = report_count + number from added
        where id in (select id from locked) and id = into_id and project_id = in_project and ${isOpen}
        returning id, report_count as "reportCount"`)
      return rows
    },
  }
}
