import { type AnyColumn, and, isNull, type SQL, sql } from '../db/drizzle.ts'
import { codehostLabels } from '../db/tables/codehost.ts'
import { projects } from '../db/tables/projects.ts'
import { taskNameChanges } from '../db/tables/task-counts.ts'
import { taskNames } from '../db/tables/task-names.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { inProject, isReached, onlyProjectOf, type Reach } from './reach.ts'
import { IS_IN_ACTIVE_PROJECT } from './task-readiness.ts'
import { patternOf } from './task-texts.ts'

interface NameRequest {
  kind: 'label' | 'assignee'
  projectId?: string | undefined
  /** Part of the name, in any case. */
  text?: string | undefined
  /** The last name before. */
  after?: NamePosition | undefined
}

/** The number of open tasks, and the name in lower case. */
export interface NamePosition {
  openCount: number
  key: string
}

export interface UsedName extends NamePosition {
  name: string
  /** At the code host; only of labels. */
  color?: string | null
}

/** How many of the most used names are searched: about 30 ms. */
const MAX_NAMES = 20_000

/** The labels and assignees of tasks, and how many tasks have them. */
export function taskNamesRepository(db: Executor, reach: Reach) {
  return {
    /** Most used first. Unused names are omitted. */
    async list(filter: NameRequest, limit: number): Promise<UsedName[]> {
      const place = filter.projectId === undefined ? reach : inProject(filter.projectId)
      // Counts and pending changes are read in one snapshot, so that none is counted twice.
      const { rows } = await db.execute<UsedName & Record<string, unknown>>(sql`
        with used as (
          select key, name, task_count as tasks, open_count as open, null::tid as place
          from (${mostUsed(filter.kind, place)}) as most_used
          union all
          select lower(name), name, task_change, open_change, ctid from ${taskNameChanges}
          where kind = ${filter.kind} and ${isIn(place, taskNameChanges.projectId)}
        )
        select key, (array_agg(name order by place nulls first))[1] as name, sum(open)::integer as "openCount"${filter.kind === 'label' ? colorIn(place) : sql``}
        from used where key like lower(${patternOf(filter.text ?? '')})
        group by key having sum(tasks) > 0 ${isAfter(filter.after)}
        order by "openCount" desc, key limit ${limit}`)
      return rows
    },
  }
}

/** The names of a place, most used first, and of several projects those of each, in the order that only its index has. */
function mostUsed(kind: NameRequest['kind'], place: Reach): SQL {
  const isKind = isWithin(taskNames.kind, kind)
  if (place.projectIds === null)
    return sql`
      select * from ${taskNames} where ${isKind} and ${sql.raw(IS_IN_ACTIVE_PROJECT)}
      order by kind desc, open_count desc limit ${MAX_NAMES}`
  return sql`
    select names.* from ${projects} cross join lateral (
      select * from ${taskNames} where ${isKind} and ${isWithin(taskNames.projectId, sql`projects.id`)}
      order by kind desc, project_id desc, open_count desc
      limit ${Math.floor(MAX_NAMES / (place.projectIds.length || 1))}
    ) as names where ${isShown(place)}`
}

const isAfter = (after: NamePosition | undefined): SQL =>
  after
    ? sql`and (sum(open) < ${after.openCount} or sum(open) = ${after.openCount} and key > ${after.key})`
    : sql``

/** Reading so many tasks in any order takes 10 ms. */
export const MAX_RARE = 5_000

/**
 * Whether few tasks have any of these names, about: without pending changes, and tasks with several count for each. The
 * index of names then finds them.
 */
export async function isRare(
  db: Executor,
  { kind, names }: { kind: 'labels' | 'assignees'; names: string[] },
): Promise<boolean> {
  // Each by itself, in the order of the primary key: another index has all names of a project.
  const place = sql`(${kind === 'labels' ? 'label' : 'assignee'}, projects.id, wanted.key)`
  const { rows } = await db.execute<{ count: number }>(sql`
    select coalesce(sum(task_count), 0)::integer as count
    from ${projects} cross join unnest(lower_names(${sql.param(names)}::text[])) as wanted (key) cross join lateral (
      select task_count from ${taskNames}
      where (kind, project_id, key) >= ${place} and (kind, project_id, key) <= ${place}
      order by kind, project_id, key limit 1
    ) as named`)
  return (rows[0]?.count ?? 0) <= MAX_RARE
}

/** The color of the project's label; of several projects, that of the oldest one that has it. */
const colorIn = (place: Reach): SQL => sql`, (
  select color from ${codehostLabels} where ${codehostLabels.name} = key and ${isIn(place, codehostLabels.projectId)}
  order by project_id limit 1) as color`

/** Whether a row is in a project of the place. */
const isIn = (place: Reach, column: AnyColumn): SQL | undefined =>
  onlyProjectOf(place) === null
    ? sql`${column} in (select id from ${projects} where ${isShown(place)})`
    : isReached(column, place)

/** A project that was named, or each that is not archived. */
const isShown = (place: Reach): SQL | undefined =>
  and(isReached(projects.id, place), onlyProjectOf(place) === null ? isNull(projects.archivedAt) : undefined)
