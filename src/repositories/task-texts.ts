import { ilike, or, type SQL, sql } from '../db/drizzle.ts'
import { taskTextChanges, taskTexts } from '../db/tables/task-texts.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

/** One number for every Inlet on a database. Two folds at once could leave an older text behind for good. */
const INDEX_LOCK = 7_461_002

/** The text that searches look in, behind the tasks. */
export function taskTextsRepository(db: Executor) {
  return {
    /**
     * True where this transaction alone may fold. A statement of its own: the fold has to see what the last one did.
     * Nobody waits for the disk: a fold that is lost in a crash is lost whole, and is done again.
     */
    async claimIndexing(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${INDEX_LOCK}) as "isMine", set_config('synchronous_commit', 'off', true)`,
      )
      return rows[0]?.isMine ?? false
    },

    /**
     * Takes up the text of tasks that are new or changed, and lets go of that of deleted ones, at most so many; answers
     * how many it looked at.
     */
    async index(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${taskTextChanges}
          where ctid = any(array(select ctid from ${taskTextChanges} limit ${limit}))
          returning task_id
        ), folded as (
          insert into ${taskTexts} (task_id, title, beginning)
          select id, lower(title), lower(left(description, 1000)) from ${tasks}
          where id in (select task_id from taken)
          on conflict (task_id) do update set title = excluded.title, beginning = excluded.beginning
        ), gone as (
          delete from ${taskTexts}
          where task_id in (select task_id from taken where not exists (
            select from ${tasks} where id = taken.task_id))
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },
  }
}

/** Tasks with this text in the title or in the description's first 1,000 characters, asked of each task itself. */
export function contains(text: string): SQL | undefined {
  const pattern = patternOf(text)
  return or(ilike(tasks.title, pattern), ilike(sql`left(${tasks.description}, 1000)`, pattern))
}

/**
 * The same tasks, asked of the texts that were folded; of those that were not, the tasks themselves. As an array: the
 * planner then takes it for few tasks and reads these, in order, instead of walking all to see which are among them.
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
