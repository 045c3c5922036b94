import { arraysOf, columnArrays, tableColumns } from '../db/column-arrays.ts'
import { type SQL, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { activity } from '../db/tables/activity.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { ActivityRow } from './activity.ts'
import { claimingKeys, type KnownResponse, keyedValues, skipLocked } from './claiming-keys.ts'
import { namingUnavailable } from './database-away.ts'
import type { Executor } from './index.ts'
import { onlyProjectOf, type Reach } from './reach.ts'

/** An activity whose project, unless given, is that of its task, or else that of the reach. */
export interface PostedActivity {
  row: ActivityRow
  reach: Reach
}

/** The same with the response that is stored for the request's idempotency key. */
export interface KeyedActivity extends PostedActivity {
  response: KnownResponse
}

const given = tableColumns<ActivityRow>(activity, [
  'id',
  'type',
  'message',
  'taskId',
  'actorType',
  'actorId',
  'actorName',
  'metadata',
  'createdAt',
])
const names = sql.raw(given.map(({ name }) => name).join(', '))
const values = sql.raw(given.map(({ name, cast }) => name + cast).join(', '))

const input = columnArrays<PostedActivity>({
  ...arraysOf(given, ({ name, type, read }) => ({ [name]: [type, ({ row }) => read(row)] })),
  given_project: ['uuid', ({ row }) => row.projectId],
  // As text: arrays of different lengths are no array of arrays.
  reach: ['text', ({ reach: { projectIds } }) => projectIds && `{${projectIds.join()}}`],
  only_project: ['uuid', ({ reach }) => onlyProjectOf(reach)],
})

const insertActivities = insertion('insert posted activities')
const insertKeyedActivities = insertion('insert posted activities with keys', {
  claims: sql`${claimingKeys(sql`select id from allowed`)},`,
  condition: sql`where (id in (select effect_id from claimed)) is true`,
})

function insertion(
  name: string,
  { claims = sql``, condition = sql`` }: { claims?: SQL; condition?: SQL } = {},
) {
  return preparedStatement<{ id: string; projectId: string | null }>(
    name,
    sql`
      with input as materialized (
        select input.*, task.project_id as task_project, coalesce(given_project, task.project_id, only_project) as project_id
        from ${input.as('input')}
        left join ${tasks} as task on task.id = task_id and deleted_at is null
          and (reach is null or task.project_id = any(reach::uuid[]))
      ), open as (
        select id from ${projects} where id in (select project_id from input) and archived_at is null
        order by id for key share
      ), allowed as materialized (
        select * from input
        where (task_id is null or task_project = project_id)
          and (project_id is null or project_id in (select id from open))
          and (reach is null or project_id = any(reach::uuid[]))
      ), ${claims} written as (
        insert into ${activity} (project_id, ${names}) select project_id, ${values} from allowed ${condition}
        returning id, project_id
      )
      select id, project_id as "projectId" from written`,
  )
}

/** Activities that other systems post. */
export function postedActivities(db: Executor) {
  return {
    /**
     * Inserts activities in one statement, which needs no transaction around it. Returns the projects of those that were
     * inserted, by id. The others name a task or project that cannot be written to, or a project that is not the task's.
     * @throws AppError `unavailable` when the database is away.
     */
    async insert(posted: PostedActivity[]): Promise<Map<string, string | null>> {
      const { rows } = await insertActivities(db, input.valuesOf(posted)).catch(namingUnavailable)
      return new Map(rows.map(({ id, projectId }) => [id, projectId]))
    },

    /**
     * The same for requests with an idempotency key, and stores their responses. Returns the ids of those that were
     * inserted; the keys of others may be in use.
     * @throws AppError `unavailable` when the database is away.
     */
    async insertKeyed(posted: KeyedActivity[]): Promise<Set<string>> {
      const keyed = posted.map(({ row, response }) => ({ effectId: row.id, response }))
      const result = await insertKeyedActivities(db, { ...input.valuesOf(posted), ...keyedValues(keyed) })
        .catch(skipLocked)
        .catch(namingUnavailable)
      return new Set(result?.rows.map(({ id }) => id))
    },
  }
}
