import { arraysOf, columnArrays, tableColumns } from '../db/column-arrays.ts'
import { type SQL, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { activity } from '../db/tables/activity.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type FieldName, INSERTED_FIELDS, type InsertedField } from '../domain/task-fields.ts'
import { claimingKeys, type KnownResponse, keyedValues, skipLocked } from './claiming-keys.ts'
import { namingUnavailable } from './database-away.ts'
import type { Executor } from './index.ts'
import { acceptingLists, lockingProjects } from './locking-projects.ts'
import { namingViolations } from './task-violations.ts'
import type { TaskRow } from './tasks.ts'

/** A row that `newTask` made, and the id of its `task.created` activity. */
export interface NewTaskRow {
  row: TaskRow
  activityId: string
  /** What was known of its project when the row was made, if that may have changed since. */
  isTriageOn?: boolean
}

/** The same with the response that is stored for the request's idempotency key. */
export interface KeyedTaskRow extends NewTaskRow {
  response: KnownResponse
}

interface InsertedTasks {
  /** Ids of rows that were not inserted: the external id is taken, or the list or its project is not as expected. */
  missing: Set<string>
  /** Whether all their lists accept tasks: the list and its project exist, and neither is being deleted or archived. */
  isOpen: boolean
}

/** Of the other columns, those that don't have their default in a new task. */
const FIXED: Partial<Record<Exclude<FieldName, InsertedField>, string>> = {
  status: `'open'`,
  openedAt: 'created_at',
  updatedAt: 'created_at',
  version: '1',
}

const given = tableColumns<TaskRow>(tasks, INSERTED_FIELDS)
const fixed = Object.entries(FIXED).map(([member, value]) => ({
  name: tasks[member as keyof typeof FIXED].name,
  value,
}))
const names = sql.raw([...given, ...fixed].map(({ name }) => name).join(', '))
const values = sql.raw(
  [...given.map(({ name, cast }) => name + cast), ...fixed.map(({ value }) => value)].join(', '),
)

const input = columnArrays<NewTaskRow>({
  ...arraysOf(given, ({ name, type, read }) => ({ [name]: [type, ({ row }) => read(row)] })),
  activity_id: ['uuid', ({ activityId }) => activityId],
  is_triage_on: ['boolean', ({ isTriageOn = null }) => isTriageOn],
})

/** Whether a row's list accepts tasks, and its project triages them as the row was made for. */
const isAccepted = sql`exists (
  select from accepting
  where accepting.id = input.list_id and (accepting.is_triage_on = input.is_triage_on) is not false
)`

const insertTasks = insertion('insert new tasks')
// No other task can have their ids. Without looking for conflicts, a hundred take PostgreSQL 0.93 of the time.
const insertUnnamedTasks = insertion('insert new tasks without external ids', {
  onConflict: sql``,
  isInserted: isAccepted,
})
const insertKeyedTasks = insertion('insert new tasks with keys', {
  claims: sql`${claimingKeys(sql`select id from input where ${isAccepted}`)},`,
  condition: sql`and (id in (select effect_id from claimed)) is true`,
})

interface Insertion {
  claims?: SQL
  condition?: SQL
  onConflict?: SQL
  isInserted?: SQL
}

function insertion(
  name: string,
  {
    claims = sql``,
    condition = sql``,
    onConflict = sql`on conflict do nothing`,
    isInserted = sql`id in (select id from made)`,
  }: Insertion = {},
) {
  return preparedStatement<{ missing: string[]; isOpen: boolean }>(
    name,
    sql`
      with input as materialized (
        select * from ${input.as('input')}
      ), ${lockingProjects}, ${acceptingLists}, ${claims} made as (
        insert into ${tasks} (${names}) select ${values}
        from input where ${isAccepted} ${condition}
        ${onConflict} returning id
      ), logged as (
        insert into ${activity} (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
        select activity_id, 'task.created', id, project_id, created_by_type, created_by_id, created_by_name, '{}',
          created_at
        from input where ${isInserted}
      )
      select array(select id from input where not (${isInserted})) as missing,
        (select count(*) from accepting) = cardinality(${sql.placeholder('listIds')}::uuid[]) as "isOpen"`,
  )
}

/** Tasks as requests create them. */
export function newTasks(db: Executor) {
  return {
    /**
     * Inserts tasks of any lists with their activity in one statement, which needs no transaction around it. Rows are in
     * the order of their external ids where they have any: two statements that share some then wait for each other.
     * @throws AppError `unavailable` when the database is away; `list_not_found` when a list was deleted meanwhile.
     */
    async insert(newTasks: NewTaskRow[]): Promise<InsertedTasks> {
      const insert = newTasks.some(({ row }) => row.externalId !== null) ? insertTasks : insertUnnamedTasks
      const { rows } = await insert(db, valuesOf(newTasks))
        .catch(namingViolations(newTasks[0]?.row.listId))
        .catch(namingUnavailable)
      const [outcome] = rows
      return { missing: new Set(outcome?.missing), isOpen: outcome?.isOpen ?? false }
    },

    /**
     * The same for tasks without an external id whose requests have an idempotency key, and stores their responses.
     * Returns the ids of rows that were not inserted: their list does not accept tasks, or their key is in use.
     * @throws AppError `unavailable` when the database is away; `list_not_found` when a list was deleted meanwhile.
     */
    async insertKeyed(newTasks: KeyedTaskRow[]): Promise<Set<string>> {
      const keyed = newTasks.map(({ row, response }) => ({ effectId: row.id, response }))
      const outcome = await insertKeyedTasks(db, { ...valuesOf(newTasks), ...keyedValues(keyed) })
        .then(({ rows: [outcome] }) => outcome)
        .catch(skipLocked)
        .catch(namingViolations(newTasks[0]?.row.listId))
        .catch(namingUnavailable)
      return new Set(outcome?.missing ?? newTasks.map(({ row }) => row.id))
    },
  }
}

function valuesOf(newTasks: NewTaskRow[]) {
  const projectIds = [...new Set(newTasks.map(({ row }) => row.projectId))]
  const listIds = [...new Set(newTasks.map(({ row }) => row.listId))]
  return { ...input.valuesOf(newTasks), projectIds, listIds }
}
