import { ilike, or, type SQL, sql } from '../db/drizzle.ts'
import { taskTextChanges, taskTexts } from '../db/tables/task-texts.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

/** The advisory lock of the indexer: two at once could leave an outdated text in the index. */
const INDEX_LOCK = 7_461_002

/** The search index of task texts, updated after the tasks. */
export function taskTextsRepository(db: Executor) {
  return {
    /**
     * Returns true if this transaction may index. A separate statement, so that indexing sees what the previous one
     * committed. Commits asynchronously: work lost in a crash is repeated.
     */
    async claimIndexing(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${INDEX_LOCK}) as "isMine", set_config('synchronous_commit', 'off', true)`,
      )
      return rows[0]?.isMine ?? false
    },

    /**
     * Indexes the texts of at most `limit` new or changed tasks, and removes those of purged ones; returns how many it
     * processed.
     */
    async index(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${taskTextChanges}
          where ctid = any(array(select ctid from ${taskTextChanges} limit ${limit}))
          returning task_id
        ), indexed as (
          insert into ${taskTexts} (task_id, title, beginning)
          select id, lower(title), lower(left(description, 1000)) from ${tasks}
          where id in (select task_id from taken)
          on conflict (task_id) do update set title = excluded.title, beginning = excluded.beginning
        ), removed as (
          delete from ${taskTexts}
          where task_id in (select task_id from taken where not exists (
            select from ${tasks} where id = taken.task_id))
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },
  }
}

/** Tasks with this text in the title or the description's first 1,000 characters, by reading each task. */
export function contains(text: string): SQL | undefined {
  const pattern = patternOf(text)
  return or(ilike(tasks.title, pattern), ilike(sql`left(${tasks.description}, 1000)`, pattern))
}

/**
 * The same tasks by the text index; tasks not yet indexed are read themselves. As an array, because the planner then
 * expects few tasks and reads these in order, instead of scanning all tasks.
 */
export function isFoundByText(text: string): SQL {
  const pattern = patternOf(text)
  return sql`${tasks.id} = any(array(
    select task_id from ${taskTexts}
    where (title like lower(${pattern}) or beginning like lower(${pattern}))
      and not exists (select from ${taskTextChanges} as later where later.task_id = ${taskTexts}.task_id)
    union all
    select id from ${tasks}
    where id in (select task_id from ${taskTextChanges})
      and (title ilike ${pattern} or left(description, 1000) ilike ${pattern})))`
}

const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
