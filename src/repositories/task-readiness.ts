/*
 * Whether work on a task can begin, as SQL text about the columns of a row of `tasks`, whatever the name it is selected
 * under. Nearly all tasks have no blockers: for these nothing is read.
 */

/** The columns of blockers have other names, so that those of the task keep theirs. */
const BLOCKERS = `(
  select id as blocker_id, project_id as blocker_project, status as blocker_status, deleted_at as blocker_deleted
  from tasks
) as blockers`

/** Whether a task that it is blocked by still has to be done. */
export const IS_BLOCKED = `case when blocked_by = '{}' then false else exists (
  select from ${BLOCKERS}
  where blocker_id = any(blocked_by) and blocker_project = project_id and blocker_status <> 'done'
    and blocker_deleted is null
) end`

/** Once the lease of its claim is over, a task counts as open. */
const IS_OPEN = `(status = 'open' or status = 'in_progress' and (claim_expires_at <= clock_timestamp()) is true)`

/**
 * As an array, which is computed once: an index scan continues and skips these. A `case`, because the planner takes the
 * array for ten projects: where there are one or two, it expected no other task, and read and sorted all.
 */
export const IS_IN_ACTIVE_PROJECT = `case
  when project_id = any(array(select id from projects where archived_at is not null)) then false else true end`

/** Neither deleted, nor put off, nor in need of an answer. */
const IS_HERE_NOW = `deleted_at is null and snoozed_until is null and question is null`

/** The conditions that cost least come first. */
export const IS_READY = `(${IS_OPEN} and ${IS_HERE_NOW} and not ${IS_BLOCKED} and ${IS_IN_ACTIVE_PROJECT})`

/** The tasks that are ready while no lease is over. The indexes of such tasks have the first three conditions. */
export const IS_CLAIMABLE = `status = 'open' and ${IS_HERE_NOW} and ${IS_IN_ACTIVE_PROJECT} and not ${IS_BLOCKED}`
