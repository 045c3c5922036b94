import { and, isNull, like, type SQL, sql } from '../db/drizzle.ts'
import { taskTexts } from '../db/tables/task-texts.ts'
import { tasks } from '../db/tables/tasks.ts'
import { feedbackProperty } from './feedback-properties.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { taskJson } from './task-json.ts'
import type { TaskRow } from './tasks.ts'

/** A task as JSON text, and how similar it is, from 0 to 1. */
export interface SimilarTask {
  json: string
  similarity: number
  /** Of feedback. */
  appVersion: string | null
  sentiment: string | null
}

interface SimilarRequest {
  task: Pick<TaskRow, 'id' | 'projectId'>
  /** Tasks with all words of one of these in their title are compared. */
  wordGroups: string[][]
  /** Tasks that were done before are omitted. */
  doneSince: Date
  limit: number
}

/** The newest tasks of the project, which are compared whatever their words. */
const MAX_RECENT = 1_000
/** The others that are found by their words. */
const MAX_OF_WORDS = 300
const MAX_OF_NOTE = 20
/** Comparing two whole texts takes 100 us, and two titles 12. */
const MAX_WHOLE = 100
const THRESHOLD = 0.3

/** Tasks that resemble another one, by the trigrams of their texts. */
export function similarTasksRepository(db: Executor) {
  return {
    /** Whether the database has pg_trgm, and the index of the texts. */
    async isAvailable(): Promise<boolean> {
      const { rows } = await db.execute<{ isAvailable: boolean }>(
        sql`select to_regclass('task_texts_trigrams') is not null and to_regproc('similarity') is not null as "isAvailable"`,
      )
      return rows[0]?.isAvailable ?? false
    },

    /**
     * The most similar tasks of the same project first: each that is open or was done lately, with its own text or that
     * of a report. What is compared is limited, because pg_trgm's own index operator takes seconds at a million tasks.
     */
    async list({ task, wordGroups, doneSince, limit }: SimilarRequest): Promise<SimilarTask[]> {
      const { id, projectId } = task
      const isEligible = sql`(status <> 'done' or completed_at >= ${doneSince.toISOString()}::timestamptz)`
      const isInProject = and(isWithin(tasks.projectId, projectId), isNull(tasks.deletedAt))
      const candidates = [
        sql`select id from ${tasks} where ${isInProject}
          order by ${tasks.projectId} desc, ${tasks.id} desc limit ${sql.raw(String(MAX_RECENT))}`,
        ...wordGroups.map(havingWords),
        sql`select id from ${tasks}
          where ${isInProject} and note_key = (select note_key from subject) and status <> 'done'
          order by id limit ${sql.raw(String(MAX_OF_NOTE))}`,
      ]
      const { rows } = await db.execute<SimilarTask & Record<string, unknown>>(sql`
        with subject as materialized (
          select title, note_key, ${TEXT} as text from ${tasks} where id = ${id}
        ), candidates as materialized (
          ${sql.join(
            candidates.map((candidate) => sql`(${candidate})`),
            sql` union `,
          )}
        ), present as materialized (
          select tasks.id, coalesce(merged_into, tasks.id) as shown_id, title, ${TEXT} as text
          from candidates cross join lateral (
            select * from ${tasks} where tasks.id = candidates.id limit 1
          ) as tasks
          where project_id = ${projectId} and deleted_at is null and tasks.id <> ${id}
            and merged_into is distinct from ${id} and (merged_into is not null or ${isEligible})
        ), alike as materialized (
          select shown_id, text from present where text is not null
          order by similarity(title, (select title from subject)) desc, id desc
          limit ${sql.raw(String(MAX_WHOLE))}
        ), best as materialized (
          select shown_id, max(similarity(text, (select text from subject))) as similarity from alike group by shown_id
        )
        select ${taskJson({ isSummary: true })} as json, similarity,
          ${feedbackProperty('app_version')} as "appVersion", ${feedbackProperty('sentiment')} as sentiment
        from best join ${tasks} on id = shown_id
        where similarity >= ${THRESHOLD} and id <> ${id} and deleted_at is null and ${isEligible}
        order by similarity desc, id desc limit ${limit}`)
      return rows
    },
  }
}

/** The note of feedback, or the title and the description's beginning. Null for feedback without a note. */
const TEXT = sql.raw(`left(case source when 'analytics' then metadata -> 'properties' ->> 'note'
  else concat_ws(' ', title, left(description, 500)) end, 500)`)

const havingWords = (words: string[]): SQL => sql`
  select task_id from ${taskTexts} where ${and(...words.map((word) => like(taskTexts.title, `%${word}%`)))}
  limit ${sql.raw(String(MAX_OF_WORDS))}`
