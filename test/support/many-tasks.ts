import pg from 'pg'
import { emptyTally } from '../../src/domain/codehost/tally.ts'

/** The project of the oldest tasks, a fifth of all, in its first list. */
export const OLD_PROJECT = 'Old'
/** The project of which one task in 500 is not done. */
export const DONE_PROJECT = 'Project 9'

export interface Filling {
  /** Of tasks. */
  count: number
  /** Whether PostgreSQL knows statistics of the rows. */
  isAnalyzed: boolean
}

/**
 * Fills a migrated database with tasks, and with other rows of a service that was used for a year: in the state they have
 * after a while, indexes built, statistics known, or as they are before the first `analyze`.
 */
export async function fillWithTasks(connectionString: string, { count, isAnalyzed }: Filling): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    if (!isAnalyzed) for (const statement of REMEMBERING) await client.query(statement)
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid in ('tasks'::regclass, 'task_texts'::regclass, 'activity'::regclass) and not indisprimary`,
    )
    for (const statement of [
      // Without triggers and foreign keys, and with the indexes built afterwards: the same rows in a third of the time.
      `set session_replication_role = replica; set maintenance_work_mem = '512MB'`,
      ...indexes.map(({ name }) => `drop index ${name}`),
      ...rows(count),
      ...indexes.map(({ definition }) => definition),
      ...(isAnalyzed ? ['vacuum analyze'] : [FORGETTING]),
    ]) {
      await client.query(statement)
    }
  } finally {
    await client.end()
  }
}

/** Before the tables are filled. */
const REMEMBERING = [
  `do $$ declare name text; begin
    for name in select oid::regclass from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
      execute format('alter table %s set (autovacuum_enabled = off)', name);
    end loop;
  end $$`,
  `create temp table sizes as
    select relname, relpages, reltuples from pg_class where relnamespace = 'public'::regnamespace`,
]
/** Building an index stores how large its table is. */
const FORGETTING = `update pg_class set relpages = sizes.relpages, reltuples = sizes.reltuples
  from sizes where sizes.relname = pg_class.relname and relnamespace = 'public'::regnamespace`

const rows = (count: number) => [
  // 20 projects of 10 lists; one is archived.
  `with project as (
    insert into projects (id, name, archived_at, created_at, updated_at)
    select uuidv7(), case i when 0 then '${OLD_PROJECT}' else 'Project ' || i end, case when i = 7 then now() end, now(), now()
    from generate_series(0, 20) as i
    returning id, name
  )
  insert into lists (id, project_id, name, position, is_default, created_at)
  select uuidv7(), id, name || ', list ' || i, i, i = 0, now() from project, generate_series(0, 9) as i`,

  // Changed in another order than created; one in a hundred is deleted.
  `insert into tasks (id, title, description, status, priority, source, project_id, list_id, external_id,
    codehost_repository_id, codehost_number, codehost_kind, labels, assignees, metadata, created_by_type, created_by_name, created_at,
    opened_at, updated_at, completed_at, deleted_at, triaged, snoozed_until, question, version)
  select uuidv7(at - now()), 'Task ' || i || word, case when i % 2 = 0 then 'Seen in version ' || i % 50 || word end,
    status, 1 + i / 7 % 3, source, project_id, lists.id, case when source = 'api' then 'x-' || i end,
    case when source = 'codehost' then 1 end, case when source = 'codehost' then i end,
    case when source = 'codehost' then case when i % 2 = 0 then 'issue' else 'pull_request' end end,
    labels::text[], assignees::text[], '{}', 'system', 'test', at, opened, changed, case when status = 'done' then changed end,
    case when i % 101 = 0 then now() - make_interval(mins => i % 40000) end, i / 29 % 10 > 0,
    case when i % 1009 = 5 then now() + make_interval(mins => i % 40000) end,
    case when i % 10007 = 7 then '{}'::jsonb end, 1
  from generate_series(1, ${count}) as i
  cross join lateral (
    select now() - make_interval(secs => 30 * (${count} - i)) as at,
      -- Half of the code host's tasks were opened years before they were imported.
      case when i / 17 % 20 between 6 and 12 then now() - make_interval(secs => 104729::bigint * i % (300 * ${count}))
        else now() - make_interval(secs => 30 * (${count} - i)) end as opened,
      now() - make_interval(secs => 7919::bigint * i % (30 * ${count})) as changed,
      case when i % 10007 = 0 then ' quokka' when i % 3 = 0 then ' export' else '' end as word,
      case when i / 13 % 5 > 0 then 'done' when i / 13 % 50 = 0 then 'in_progress' else 'open' end as status,
      case when i / 17 % 10 < 6 then 'api' when i / 17 % 10 < 9 then 'codehost' else 'analytics' end as source,
      case when i % 10009 = 0 then '{rare}' when i / 19 % 3 = 0 then '{bug}' else '{}' end as labels,
      case when i % 10009 = 1 then '{Seldom}' when i / 23 % 4 = 0 then '{Ada}' else '{}' end as assignees
  ) as task
  join (select row_number() over (order by name like '${OLD_PROJECT}, %', id) as n, id, project_id from lists) as lists
    on lists.n = case when i <= ${count / 5} then 201 else 1 + i * 31 % 200 end
  order by i`,

  `update tasks set status = 'done', completed_at = updated_at
  where project_id = (select id from projects where name = '${DONE_PROJECT}') and completed_at is null
    and hashtext(id::text) % 100 <> 0`,

  `update lists set open_count = counted.open
  from (select list_id, count(*) as open from tasks where status <> 'done' and deleted_at is null group by list_id) as counted
  where list_id = lists.id`,

  `insert into task_texts (task_id, title, beginning, names)
  select id, lower(title), lower(left(description, 1000)),
    nullif(lower(concat_ws(E'\\x1f', external_id, labels[1], assignees[1])), '')
  from tasks`,

  `insert into activity (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at, transaction)
  select uuidv7(created_at - now()), case when n % 3 = 0 then 'task.updated' else 'task.created' end, id, project_id,
    'key', md5((n / 10000)::text)::uuid, 'test', '{}', created_at, n::text::xid8
  from (select row_number() over (order by id) as n, * from tasks limit ${(count * 3) / 10}) as tasks`,

  `with key as (
    insert into api_keys (id, name, scopes, created_at)
    select uuidv7(), 'Key ' || i, '{admin}', now() from generate_series(1, 20000) as i returning id
  )
  insert into api_key_secrets (hash, key_id, prefix, last_four, created_at)
  select id::text, id, 'x', 'x', now() from key`,

  `insert into sessions (id, hash, key_id, secret_hash, created_at, last_seen_at)
  select uuidv7(), gen_random_uuid()::text, key_id, hash, now(), now() - make_interval(hours => (random() * 24)::integer)
  from api_key_secrets, generate_series(1, 3)`,

  `insert into saved_filters (id, key_id, name, query, created_at)
  select uuidv7(), id, 'Filter ' || i, '{}', now() from api_keys, generate_series(1, 3) as i`,

  `insert into deliveries (id, receiver, sender_id, outcome, duplicates, attempts, received_at, tasks, payload_cut)
  select uuidv7(make_interval(secs => i - 100000)), 'feedback',
    case when i % 2 = 0 then 'sender of many' when i < 100 then 'sender of few' else 'sender ' || i end,
    case when i < 100 then 'rejected' else 'accepted' end, 0, 0, now(), '[]', false
  from generate_series(1, 100000) as i`,

  `with rule as (
    insert into rules (id, content, priority, is_active, version, created_at, updated_at, updated_by_type, updated_by_name)
    select uuidv7(), 'Test', 1, true, 1, now(), now(), 'system', 'test' from generate_series(1, 20) returning id
  )
  insert into rule_versions (rule_id, version, content, priority, is_active, created_at, actor_type, actor_name)
  select id, i, 'Test', 1, true, now(), 'system', 'test' from rule, generate_series(1, 3000) as i`,

  `insert into sync_runs (id, project_id, connection_id, status, mode, counts, created_at)
  select uuidv7(), id, id, 'completed', 'incremental', '${JSON.stringify(emptyTally().counts)}', now() from projects, generate_series(1, 3000)`,

  `insert into task_names (kind, project_id, key, name, task_count, open_count)
  select kind, id, 'name ' || i, 'name ' || i, 9, i from projects, generate_series(1, 3000) as i,
    (values ('label'), ('assignee')) as kinds (kind)`,

  `insert into task_names (kind, project_id, key, name, task_count, open_count)
  select kind, project_id, lower(name), name, count(*), count(*) filter (where status <> 'done')
  from tasks, lateral (
    select 'label' as kind, labels[1] as name union all select 'assignee', assignees[1]
  ) as named
  where name is not null and deleted_at is null group by kind, project_id, name`,
]
