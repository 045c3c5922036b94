import { sql } from '../db/drizzle.ts'
import { lists, projects } from '../db/tables/projects.ts'

/**
 * A part of a `with`: `open` has those of the placeholder `projectIds` that exist and are not archived. They are locked
 * in the same order everywhere, so that none is archived or deleted while the statement runs.
 */
export const lockingProjects = sql`
  open as (
    select id, triage from ${projects} where id = any(${sql.placeholder('projectIds')}::uuid[]) and archived_at is null
    order by id for key share
  )`

/**
 * The same after `lockingProjects`: `accepting` has those of the placeholder `listIds` that accept tasks, in the locked
 * projects, and whether these triage what arrives.
 */
export const acceptingLists = sql`
  accepting as (
    select lists.id, project_id, triage = 'on' as is_triage_on from ${lists} join open on open.id = project_id
    where lists.id = any(${sql.placeholder('listIds')}::uuid[]) and not is_closing
  )`
