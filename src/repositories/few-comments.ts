import { type SQL, sql } from '../db/drizzle.ts'

/** Comments that one statement deletes with tasks, but for those of its last task: 10 ms if they are short. */
export const MAX_COMMENTS = 2_000

/**
 * The ids of the first of these tasks that have few comments together, at least one: deleting a task deletes its comments,
 * of which a batch of tasks may have a million. `rows` selects `id` and `comment_count`.
 */
export const withFewComments = (rows: SQL): SQL => sql`
  select id from (
    select id, sum(comment_count) over (rows between unbounded preceding and 1 preceding) as before
    from (${rows}) as tasks
  ) as tasks where coalesce(before, 0) < ${MAX_COMMENTS}`
