import { arraysOf, columnArrays, tableColumns } from '../db/column-arrays.ts'
import { and, eq, isNull, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { activity } from '../db/tables/activity.ts'
import { codehostConnections } from '../db/tables/codehost.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { TaskUpdate } from '../domain/task.ts'
import { EDITED_FIELDS, LONG_FIELDS } from '../domain/task-fields.ts'
import type { ActivityRow } from './activity.ts'
import type { ConnectionRow } from './codehost/connections.ts'
import { namingUnavailable } from './database-away.ts'
import type { Executor } from './index.ts'
import { acceptingLists, lockingProjects } from './locking-projects.ts'
import { endingClaims, taskColumns } from './task-columns.ts'
import { IS_BLOCKED } from './task-readiness.ts'
import { namingViolations } from './task-violations.ts'
import type { TaskRow } from './tasks.ts'

/** A change that was decided on a version of a task; it is written only if that is still the current one. */
export interface DecidedChange {
  task: TaskRow
  update: TaskUpdate
  /** The task with the update. */
  changed: TaskRow
  /** Written only while the lease of the claim lasts. */
  isUnderClaim?: boolean | undefined
  activities: ActivityRow[]
}

const edited = tableColumns<TaskRow>(tasks, EDITED_FIELDS)
const LONG: readonly string[] = LONG_FIELDS
/** Sent only where they change. */
const long = edited.filter(({ member }) => LONG.includes(member))
const short = edited.filter((column) => !long.includes(column))

const input = columnArrays<DecidedChange>({
  id: ['uuid', ({ task }) => task.id],
  before: ['integer', ({ task }) => task.version],
  // A comment triages the task, and changes no version of it.
  was_triaged: ['boolean', ({ task }) => task.triaged],
  project: ['uuid', ({ task }) => task.projectId],
  is_under_claim: ['boolean', ({ isUnderClaim = false }) => isUnderClaim],
  // A claim can only end: its lease may have been renewed since it was read.
  ends_claim: ['boolean', ({ update }) => 'claimExpiresAt' in update],
  ...arraysOf(short, ({ name, type, read }) => ({ [`new_${name}`]: [type, ({ changed }) => read(changed)] })),
  ...arraysOf(long, ({ member, name, type, read }) => ({
    [`has_${name}`]: ['boolean', ({ update }) => member in update],
    [`new_${name}`]: [type, ({ update, changed }) => (member in update ? read(changed) : null)],
  })),
})

const assignments = sql.raw(
  [
    ...short.map(({ name, cast }) => `${name} = new_${name}${cast}`),
    ...long.map(
      ({ name, cast }) => `${name} = case when has_${name} then new_${name}${cast} else ${name} end`,
    ),
  ].join(', '),
)

const logged = columnArrays<ActivityRow>({
  activity_id: ['uuid', ({ id }) => id],
  type: ['text', ({ type }) => type],
  task_id: ['uuid', ({ taskId }) => taskId],
  project_id: ['uuid', ({ projectId }) => projectId],
  actor_type: ['text', ({ actorType }) => actorType],
  actor_id: ['uuid', ({ actorId }) => actorId],
  actor_name: ['text', ({ actorName }) => actorName],
  activity_metadata: ['text', ({ metadata }) => JSON.stringify(metadata)],
  created_at: ['timestamptz', ({ createdAt }) => createdAt.toISOString()],
})

const updateTasks = preparedStatement<{ missing: string[] }>(
  'update decided tasks',
  sql`
    with input as materialized (select * from ${input.as('input')}),
    logged as materialized (select * from ${logged.as('logged')}),
    ${lockingProjects}, ${acceptingLists}, changed as (
      update ${tasks} set ${assignments}, ${endingClaims(sql`ends_claim`)}
      from input
      where ${tasks}.id = input.id and version = before and triaged = was_triaged
        and project_id = project and deleted_at is null
        and project in (select id from open)
        and (not is_under_claim or claim_expires_at > clock_timestamp())
        and (new_project_id = project_id or report_count = 0)
        and (new_list_id = list_id or (new_list_id, new_project_id) in (select id, project_id from accepting))
      returning ${tasks}.id
    ), written as (
      insert into ${activity} (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
      select activity_id, type, task_id, project_id, actor_type, actor_id, actor_name, activity_metadata::jsonb,
        created_at
      from logged where task_id in (select id from changed)
    )
    select array(select id from input where id not in (select id from changed)) as missing`,
)

/** Changes of single tasks that are decided on a version and written together, each only if that version is current. */
export function taskChanges(db: Executor) {
  let findWithProjects: ReturnType<typeof findingWithProjects> | undefined
  return {
    /**
     * Tasks that are not deleted, each with what says whether its project is archived, and for tasks of the code host the
     * connection.
     * @throws AppError `unavailable` when the database is away.
     */
    listWithProjects(ids: string[]) {
      findWithProjects ??= findingWithProjects(db)
      return findWithProjects.execute({ ids }).catch(namingUnavailable)
    },

    /**
     * Writes changes of different tasks with their activity in one statement. Returns the ids of tasks that were not
     * changed: another write came first, their project was archived, or the list does not accept tasks.
     * @throws list_not_found, external_id_taken for a move; of several changes, they may mean any.
     * @throws AppError `unavailable` when the database is away.
     */
    async updateDecided(changes: DecidedChange[]): Promise<Set<string>> {
      // Most statements lock their tasks in this order; PostgreSQL ends one of two that deadlock nevertheless.
      const inLockOrder = changes.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))
      const { rows } = await updateTasks(db, {
        ...input.valuesOf(inLockOrder),
        ...logged.valuesOf(inLockOrder.flatMap(({ activities }) => activities)),
        projectIds: [...new Set(changes.flatMap(({ task, changed }) => [task.projectId, changed.projectId]))],
        listIds: [...new Set(changes.map(({ changed }) => changed.listId))],
      })
        .catch(namingViolations(changes[0]?.changed.listId))
        .catch(namingUnavailable)
      return new Set(rows[0]?.missing)
    },
  }
}

/** Kept for all batches: drizzle takes longer to build the query than to run it. */
function findingWithProjects(db: Executor) {
  return db
    .select({
      task: taskColumns,
      isBlocked: sql<boolean>`${sql.raw(IS_BLOCKED)}`,
      project: {
        name: projects.name,
        archivedAt: projects.archivedAt,
        // Only for these: other changes are most of all.
        connection: sql<Pick<ConnectionRow, 'id' | 'repositoryId' | 'writeBack'> | null>`
          case when ${tasks.source} = 'codehost' then
          (select json_build_object('id', id, 'repositoryId', repository_id, 'writeBack', write_back)
            from ${codehostConnections}
            where ${codehostConnections.projectId} = ${tasks.projectId}) end`,
      },
    })
    .from(tasks)
    .innerJoin(projects, eq(projects.id, tasks.projectId))
    .where(and(sql`${tasks.id} = any(${sql.placeholder('ids')}::uuid[])`, isNull(tasks.deletedAt)))
    .prepare('find tasks with projects')
}
