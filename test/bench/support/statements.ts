import { query } from './setup.ts'

/** The task that all create benchmarks send. */
export const TASK = {
  title: 'Crash when saving a draft',
  description:
    'The editor closes without a word as soon as a draft is saved for the second time. Seen on three machines, since the update of last week. Log: TypeError: cannot read properties of undefined (reading "revision").',
  priority: 'high',
  labels: ['bug', 'editor'],
}

/** The list that `inserting` writes to. */
export const addList = (connectionString: string) =>
  query(
    connectionString,
    `with project as (
      insert into projects (id, name, is_default, created_at, updated_at)
      values (uuidv7(), 'Inbox', true, now(), now()) returning id
    )
    insert into lists (id, project_id, name, position, is_default, created_at)
    select uuidv7(), id, 'Inbox', 0, true, now() from project`,
  )

/** Leaves the tables of tasks and activity with their primary keys alone: a yardstick that no schema change moves. */
export async function dropAllButPrimaryKeys(connectionString: string): Promise<void> {
  const statements = await query<{ statement: string }>(
    connectionString,
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
      from pg_constraint where conrelid in ('tasks'::regclass, 'activity'::regclass) and contype in ('f', 'c', 'u')
    union all
    select format('drop trigger %I on %s', tgname, tgrelid::regclass)
      from pg_trigger where tgrelid in ('tasks'::regclass, 'activity'::regclass) and not tgisinternal
    union all
    select format('drop index %s', indexrelid::regclass)
      from pg_index where indrelid in ('tasks'::regclass, 'activity'::regclass) and not indisprimary`,
  )
  await query(connectionString, ...statements.map(({ statement }) => statement))
}

/** Tasks with their activity as the service writes them, in one statement; triggers add the rest. */
export const inserting = (rows: number) => `
  with made as (
    insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
      metadata, created_by_type, created_by_id, created_by_name, created_at, updated_at, version)
    select uuidv7(), '${TASK.title}', '${TASK.description}', 'open', 3, 'api', project_id, id, '{bug,editor}', '{}',
      '{}', 'key', project_id, 'bench', now(), now(), 1
    from lists, generate_series(1, ${rows}) returning id, project_id
  )
  insert into activity (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
  select uuidv7(), 'task.created', id, project_id, 'key', project_id, 'bench', '{}', now() from made;`

/** An activity that another system posts, as the service writes it. */
export const POSTING = `
  insert into activity (id, type, project_id, message, actor_type, actor_id, actor_name, metadata, created_at)
  select uuidv7(), 'deploy.finished', id, 'Version 2.3.1 is live', 'key', id, 'bench', '{}', now() from projects;`

/** Tasks that `updating` changes, numbered in `bench_tasks`. */
export const addTasksToUpdate = (connectionString: string, count: number) =>
  query<{ id: string }>(
    connectionString,
    inserting(count),
    'create table bench_tasks as select row_number() over (order by id)::integer as n, id from tasks',
    'alter table bench_tasks add primary key (n)',
    'vacuum analyze bench_tasks, tasks, activity',
    'select id from bench_tasks order by n',
  )

/** A status change of one task and its activity, as the service writes them. */
export const updating = (count: number) => [
  `\\set n random(1, ${count})`,
  `with changed as (
    update tasks set status = case status when 'open' then 'in_progress' else 'open' end, updated_at = now(),
      version = version + 1
    where id = (select id from bench_tasks where n = :n) returning id, project_id
  )
  insert into activity (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
  select uuidv7(), 'task.updated', id, project_id, 'key', project_id, 'bench',
    '{"changes":{"status":{"from":"open","to":"in_progress"}}}', now() from changed;`,
]

/** Open tasks to claim, of all priorities, in an order that is not that of their priorities. */
export const addTasksToClaim = (connectionString: string, count: number) =>
  query(
    connectionString,
    // Without triggers and foreign keys: the same rows in less time.
    `set session_replication_role = replica`,
    `insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
       metadata, created_by_type, created_by_id, created_by_name, created_at, updated_at, version)
     select uuidv7(make_interval(secs => n - ${count})), '${TASK.title}', '${TASK.description}', 'open', 1 + n % 3, 'api',
       project_id, lists.id, '{bug,editor}', '{}', '{}', 'key', project_id, 'bench', now(), now(), 1
     from lists join projects on projects.id = project_id, generate_series(1, ${count}) as n
     where lists.is_default and projects.is_default`,
    'vacuum analyze tasks',
  )

/** A claim of the first open task, and its activity, as the service writes them. */
export const CLAIMING = `
  with claimed as (
    update tasks set status = 'in_progress', claim_number = claim_number + 1,
      claim_expires_at = clock_timestamp() + interval '15 minutes', claimed_by_type = 'key', claimed_by_id = project_id,
      claimed_by_name = 'bench', updated_at = now(), version = version + 1
    where id = (
      select id from tasks where status = 'open' and deleted_at is null
      order by priority desc, id limit 1 for update skip locked)
    returning *
  ), logged as (
    insert into activity (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
    select uuidv7(), 'task.claimed', id, project_id, 'key', project_id, 'bench',
      jsonb_build_object('number', claim_number, 'expiresAt', claim_expires_at), now() from claimed
  )
  select * from claimed;`

/** A page as one JSON array of the columns that the API returns. */
export const PAGE_AS_JSON = pageAsJson('')

/** Places of pages all over the table, numbered in `bench_places`; returns their ids. */
export async function addPlaces(connectionString: string, count: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    connectionString,
    `create table bench_places as select row_number() over ()::integer as n, id
     from (select id from tasks order by random() limit ${count}) as sampled`,
    'alter table bench_places add primary key (n)',
    'vacuum analyze bench_places',
    'select id from bench_places',
  )
  return rows.map(({ id }) => id)
}

/** The same page at one of these places. */
export const pageAtAPlace = (places: number) => [
  `\\set n random(1, ${places})`,
  pageAsJson('and id < (select id from bench_places where n = :n)'),
]

function pageAsJson(condition: string): string {
  return `
  select json_agg(page) from (
    select id, title, description, status, priority, source, project_id, list_id, external_id, external_url, labels,
      assignees, codehost_number, closed_reason, source_state, notes, metadata, created_by_type, created_by_id,
      created_by_name, created_at, updated_at, completed_at, version
    from tasks where deleted_at is null ${condition} order by id desc limit 50) as page;`
}
