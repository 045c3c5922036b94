import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LISTENER } from '../../src/db/listen.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrateUpTo, newDatabase } from '../support/old-databases.ts'
import { withAdmin } from '../support/postgres.ts'

const BEFORE = '0057_one_form_of_previous_secrets'

const [project, list, source, connection, task] = Array.from({ length: 5 }, () => randomUUID())
const SETTINGS = `
  insert into projects (id, name, created_at, updated_at) values ('${project}', 'Old', now(), now());
  insert into lists (id, project_id, name, position, created_at) values ('${list}', '${project}', 'Inbox', 0, now());
  insert into sources (id, name, project_id, scheme, secret, template, is_active, created_at, updated_at)
    values ('${source}', 'Old', '${project}', 'bearer', 'x', '{}', true, now(), now());
  insert into codehost_connections (id, project_id, repository_id, repository, api_url, schedule, next_full_at,
    connected_at, updated_at) values ('${connection}', '${project}', 1, 'a/b', 'http://127.0.0.1:9', 'off', now(), now(), now());`

/** More than a step has, of each. */
const MANY = `
  insert into feedback_events (id, dedup_key, uuid, outcome, duplicates, received_at, task_id, project_id, list_id, payload,
    payload_cut)
  select ('01a20000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'f' || i, 'u' || i, 'accepted', i, now(),
    '${task}', '${project}', '${list}', '{"n":1}', false from generate_series(1, 1201) as i;
  insert into source_events (id, source_id, dedup_key, delivery_id, outcome, duplicates, received_at, project_id, list_id,
    tasks, payload_cut)
  select ('01a20000-0000-7000-8001-' || lpad(to_hex(i), 12, '0'))::uuid, '${source}', 'id:' || i, 'd' || i,
    case when i = 1 then 'pending' when i = 2 then 'filtered' else 'accepted' end, 0, now(), null, null,
    case when i < 3 then '[]' else jsonb_build_array(jsonb_build_object('taskId', '${task}', 'item', 0, 'created', i % 2 = 0)) end,
    false from generate_series(1, 601) as i;
  insert into source_backlog (event_id, source_id, position, body, due_at)
    values ('01a20000-0000-7000-8001-000000000001', '${source}', 1, '{}', '2026-01-01T00:00:00Z');
  insert into codehost_deliveries (connection_id, delivery_id, id, event, action, number, status, attempts, payload,
    payload_bytes, received_at, next_attempt_at, task_id)
  select '${connection}', 'h' || i, ('01a20000-0000-7000-8002-' || lpad(to_hex(i), 12, '0'))::uuid, 'issues', 'opened', i,
    case when i < 3 then 'received' when i = 3 then 'dropped' when i = 4 then 'failed' else 'applied' end, i,
    case when i = 5 then '\\xff'::bytea else '{}'::bytea end, 2, now(),
    case when i = 1 then '2026-01-02T00:00:00Z'::timestamptz end, case when i > 5 then '${task}'::uuid end
  from generate_series(1, 301) as i;`

async function oldDatabase(): Promise<string> {
  const connectionString = await newDatabase()
  await migrateUpTo(connectionString, BEFORE)
  await withAdmin(connectionString, (client) => client.query(SETTINGS + MANY))
  return connectionString
}

const query = async (connectionString: string, text: string) =>
  (await withAdmin(connectionString, (client) => client.query(text))).rows

test('deliveries of three tables are copied to one, with their ids, keys, attempts, and times', async () => {
  const connectionString = await oldDatabase()
  await migrate(connectionString)
  const counted = `select receiver, outcome, count(*)::int from deliveries group by 1, 2 order by 1, 2`
  expect(await query(connectionString, counted)).toEqual([
    { receiver: 'codehost', outcome: 'failed', count: 1 },
    { receiver: 'codehost', outcome: 'ignored', count: 1 },
    { receiver: 'codehost', outcome: 'pending', count: 2 },
    { receiver: 'codehost', outcome: 'updated', count: 297 },
    { receiver: 'feedback', outcome: 'accepted', count: 1201 },
    { receiver: 'source', outcome: 'accepted', count: 299 },
    { receiver: 'source', outcome: 'filtered', count: 1 },
    { receiver: 'source', outcome: 'pending', count: 1 },
    { receiver: 'source', outcome: 'updated', count: 300 },
  ])
  const shown = `select dedup_key, sender_id, project_id, attempts, duplicates, next_attempt_at, tasks, payload
    from deliveries where id = any('{01a20000-0000-7000-8000-0000000004b1,01a20000-0000-7000-8001-000000000001,
      01a20000-0000-7000-8002-000000000001,01a20000-0000-7000-8002-000000000005}') order by id`
  const none = { next_attempt_at: null, tasks: [], payload: null }
  expect(await query(connectionString, shown)).toEqual([
    {
      ...{ dedup_key: 'f1201', sender_id: 'u1201', project_id: project, attempts: 0, duplicates: 1201 },
      ...{ next_attempt_at: null, tasks: [{ taskId: task, created: true }], payload: '{"n":1}' },
    },
    {
      ...{ dedup_key: `${source} id:1`, sender_id: 'd1', project_id: project, attempts: 0, duplicates: 0 },
      ...none,
    },
    {
      ...{ dedup_key: `${connection} h1`, sender_id: 'h1', project_id: project, attempts: 1, duplicates: 0 },
      ...{ next_attempt_at: new Date('2026-01-02T00:00:00Z'), tasks: [], payload: '{}' },
    },
    {
      ...{ dedup_key: `${connection} h5`, sender_id: 'h5', project_id: project, attempts: 5, duplicates: 0 },
      // It is not UTF-8.
      ...none,
    },
  ])
  expect(await query(connectionString, 'select delivery_id, position, due_at from source_backlog')).toEqual([
    {
      ...{ delivery_id: '01a20000-0000-7000-8001-000000000001', position: 1 },
      due_at: new Date('2026-01-01T00:00:00Z'),
    },
  ])
  // What templates read goes with its source, feedback stays.
  await query(connectionString, 'delete from sources')
  const left = await query(connectionString, 'select distinct receiver from deliveries order by 1')
  expect(left).toEqual([{ receiver: 'codehost' }, { receiver: 'feedback' }])
})

test('a copy that was interrupted is continued by the next start', async () => {
  const connectionString = await oldDatabase()

  const block = `create function refuse() returns trigger language plpgsql as $$ begin raise 'killed'; end $$;
    create table deliveries_blocker (id uuid); `
  await migrateUpTo(connectionString, '0058_deliveries')
  await query(
    connectionString,
    `${block} create trigger killed before insert on deliveries for each row
    when (new.id = '01a20000-0000-7000-8001-000000000259') execute function refuse()`,
  )
  await expect(migrate(connectionString)).rejects.toThrow('killed')
  const partly = await query(
    connectionString,
    'select receiver, count(*)::int from deliveries group by 1 order by 1',
  )
  expect(partly).toEqual([
    { receiver: 'feedback', count: 1201 },
    { receiver: 'source', count: 500 },
  ])
  await query(connectionString, 'drop trigger killed on deliveries')
  await migrate(connectionString)
  const whole = await query(
    connectionString,
    'select receiver, count(*)::int from deliveries group by 1 order by 1',
  )
  expect(whole).toEqual([
    { receiver: 'codehost', count: 301 },
    { receiver: 'feedback', count: 1201 },
    { receiver: 'source', count: 601 },
  ])
})

test('the upgrade is refused while an instance of the earlier version runs, and changes nothing', async () => {
  const connectionString = await oldDatabase()
  await withAdmin(connectionString, async (instance) => {
    await instance.query(`set application_name = '${LISTENER}'`)
    await expect(migrate(connectionString)).rejects.toThrow('needs all instances to be stopped')
  })
  expect(await query(connectionString, 'select count(*)::int from feedback_events')).toEqual([
    { count: 1201 },
  ])
  await migrate(connectionString)
})
