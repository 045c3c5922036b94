import { type SQL, sql } from '../db/drizzle.ts'
import { codehostLabels } from '../db/tables/codehost.ts'
import { projects } from '../db/tables/projects.ts'
import { taskNameChanges } from '../db/tables/task-counts.ts'
import { taskNames } from '../db/tables/task-names.ts'
import type { Executor, Reach } from './index.ts'
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
      const condition = sql`kind = ${filter.kind} and ${inProject(filter.projectId ?? reach.projectId)}`
      // Counts and pending changes are read in one snapshot, so that none is counted twice.
      const { rows } = await db.execute<UsedName & Record<string, unknown>>(sql`
        with used as (
          (select key, name, task_count as tasks, open_count as open, null::tid as place from ${taskNames}
            where ${condition} order by open_count desc limit ${MAX_NAMES})
          union all
          select lower(name), name, task_change, open_change, ctid from ${taskNameChanges} where ${condition}
        )
        select key, (array_agg(name order by place nulls first))[1] as name, sum(open)::integer as "openCount"${filter.kind === 'label' ? colorIn(filter.projectId ?? reach.projectId) : sql``}
        from used where key like lower(${patternOf(filter.text ?? '')})
        group by key having sum(tasks) > 0 ${isAfter(filter.after)}
        order by "openCount" desc, key limit ${limit}`)
      return rows
    },
  }
}

const isAfter = (after: NamePosition | undefined): SQL =>
  after
    ? sql`and (sum(open) < ${after.openCount} or sum(open) = ${after.openCount} and key > ${after.key})`
    : sql``

/** How many tasks have any of these names, about: without pending changes, and tasks with several count for each. */
export async function tasksWith(
  db: Executor,
  { kind, names }: { kind: 'labels' | 'assignees'; names: string[] },
): Promise<number> {
  // Of each project, because the index begins with it.
  const { rows } = await db.execute<{ count: number }>(sql`
    select coalesce(sum(task_count), 0)::integer as count from ${taskNames}
    where kind = ${kind === 'labels' ? 'label' : 'assignee'} and project_id = any(array(select id from ${projects}))
      and key = any(lower_names(${sql.param(names)}::text[]))`)
  return rows[0]?.count ?? 0
}

/** The color of the project's label; without a project, that of the oldest one that has it. */
const colorIn = (projectId: string | null): SQL => sql`, (
  select color from ${codehostLabels} where ${codehostLabels.name} = key and ${inProject(projectId)}
  order by project_id limit 1) as color`

/** Without a project: all that are not archived. */
function inProject(projectId: string | null): SQL {
  return projectId === null
    ? sql`project_id in (select id from ${projects} where archived_at is null)`
    : sql`project_id = ${projectId}`
}
