/** So many of each kind; three hundred of them are due, or past their retention. */
const ROWS = 20_000
const DUE = 300

const ZERO_ID = '00000000-0000-0000-0000-000000000000'

const series = `generate_series(1, ${ROWS}) as i`
const isDue = `i <= ${DUE}`
/** The first are past any retention. */
const id = `uuidv7(make_interval(secs => i - ${ROWS}) - case when ${isDue} then interval '60 days' else '0' end)`
const at = `now() - make_interval(secs => ${ROWS} - i) - case when ${isDue} then interval '60 days' else '0' end`
const project = `(select id from projects where name = 'Project 3')`
const task = `(array(select id from tasks where project_id = ${project} limit 1000))[1 + i % 1000]`

/** What jobs work on, in a database that was filled with tasks: without triggers and foreign keys. */
export const JOB_ROWS = [
  `update tasks set deleted_at = now() - interval '60 days' where deleted_at is not null and hashtext(id::text) % 2 = 0`,
  `update tasks set status = 'in_progress', claim_number = 1, claim_expires_at = now() - interval '1 hour',
     claimed_by_type = 'key', claimed_by_name = 'test'
   where id in (select id from tasks where status = 'open' and deleted_at is null limit ${DUE})`,
  `insert into codehost_connections (id, project_id, repository_id, repository, api_url, schedule, next_run_at, next_full_at,
     connected_at, updated_at)
   select id, id, 1, 'a/b', 'http://127.0.0.1:9', 'hourly', now(), now(), now(), now() from projects`,
  `insert into idempotency_keys (caller_id, route, key, request_hash, status, created_at)
   select uuidv7(), 'POST /api/tasks', i::text, '', 201, ${at} from ${series}`,
  `insert into deliveries (id, receiver, source_id, project_id, outcome, duplicates, attempts, received_at, tasks, payload,
     payload_cut)
   select ${id}, 'source', ${project}, ${project}, case when i % 2 = 0 then 'filtered' else 'accepted' end, 0, 0, ${at}, '[]',
     '{}', false from ${series}`,
  `insert into sources (id, name, project_id, scheme, secret, mapping, is_active, created_at, updated_at)
   select id, name, id, 'bearer', 'x', 'feedback', true, now(), now() from projects`,
  // Each of a source that does not exist: keys of rows that do are the same for all jobs.
  `insert into pipes (kind, id, last_attempt_at, failing_since)
   select 'source', coalesce(source.id::text, uuidv7()::text), ${at}, case when ${isDue} then now() end
   from ${series} left join (select id, row_number() over () as number from sources) as source on number = i`,
  `insert into pipe_hours (kind, id, hour, succeeded, failed) select kind, id, last_attempt_at, 1, 1 from pipes`,
  `insert into pipe_pauses (kind, id, day, longest_seconds)
   select kind, id, to_char(last_attempt_at - interval '29 days', 'YYYY-MM-DD'), 60 from pipes`,
  `insert into source_backlog (delivery_id, source_id, position, body, due_at)
   select id, source_id, row_number() over (order by id), '{}', now() from deliveries where source_id is not null`,
  `update task_names set task_count = 0 where project_id = ${project} and right(key, 1) = '0'`,
  `insert into source_items (source_id, key, hash, received_at)
   select ${project}, 'item:' || i, '', ${at} from ${series}`,
  `update deliveries set payload = '{}', outcome = case when substr(id::text, 36, 1) < '4' then 'ignored' else outcome end`,
  `insert into deliveries (id, receiver, connection_id, project_id, dedup_key, event, action, number, outcome, duplicates,
     attempts, payload, payload_cut, received_at, next_attempt_at, comment_id, tasks)
   select ${id}, 'codehost', ${project}, ${project}, i::text, case when i % 2 = 0 then 'issues' else 'issue_comment' end,
     case when i % 10 < 2 then 'deleted' else 'edited' end, i,
     case when i % 3 = 0 then 'ignored' when i > ${ROWS - DUE} then 'pending' else 'updated' end, 0, 1, '{}', false, ${at},
     case when i > ${ROWS - DUE} and i % 3 > 0 then now() end, i, '[]' from ${series}`,
  `insert into codehost_writes (id, connection_id, task_id, kind, payload, status, attempts, next_attempt_at, created_at,
     comment_id)
   select ${id}, ${project}, ${task}, 'comment', '{}', case when ${isDue} then 'pending' else 'done' end, 0, now(), ${at},
     uuidv7() from ${series}`,
  `insert into comments (id, task_id, body, author_type, author_name, is_public, external_id, created_at, updated_at)
   select ${id}, ${task}, 'Text', 'codehost', 'test', true, i, now(), now() from ${series}`,
  `insert into notifications (id, user_id, reason, task_id, count, actor_type, actor_name, created_at, read_at)
   select ${id}, '${ZERO_ID}', case when i % 2 = 0 then 'broken' else 'commented' end, case when i % 2 = 1 then ${task} end,
     1, 'system', 'test', ${at}, ${at} from ${series}`,
  `insert into task_followers (task_id, user_id, is_following, changed_at) select ${task}, uuidv7(), true, now() from ${series}`,
  `insert into task_mentions (source_id, user_id, task_id) select uuidv7(), uuidv7(), ${task} from ${series}`,
  `insert into changes (position, activity_id) select row_number() over (order by id), id from activity`,
  `update change_feed set last_position = (select max(position) from changes)`,
  `insert into webhooks (id, name, url, types, is_active, position, created_at)
   select id, 'Test', 'https://example.com', '{}', true, 100, now() from projects`,
  `insert into webhook_deliveries (webhook_id, id, position, type, activity_id, outcome, attempts, created_at, finished_at)
   select projects.id, ${id}, i, 'task.created', changes.activity_id,
     case when i > ${ROWS - DUE} then 'pending' else 'delivered' end, 0, ${at},
     case when i <= ${ROWS - DUE} then ${at} end
   from projects, ${series} join changes on changes.position = i where projects.name in ('Project 3', 'Project 4')`,
  `insert into counted_tasks (task_id, project_id, source, opened_at, completed_at, closer, days, is_to_triage)
   select id, project_id, source, opened_at, completed_at, case when status = 'done' then 'people' end,
     case when status = 'done' then 1 end, not triaged and status <> 'done' from tasks where deleted_at is null`,
  `insert into opened_weeks (project_id, week, source, count)
   select project_id, date_trunc('week', opened_at at time zone 'UTC'), source, count(*) from counted_tasks group by 1, 2, 3`,
  `insert into report_weeks (project_id, week, task_id, count)
   select project_id, '2026-01-05'::date + 7 * (row_number() over (order by task_id) % 50)::integer, task_id, 2
   from counted_tasks limit ${ROWS}`,
  `insert into overview_progress (position, filled_to) values (100, '${ZERO_ID}')`,
  `insert into counted_task_changes (task_id) select id from tasks limit ${DUE}`,
  `insert into sync_items (run_id, number, outcome) select ${project}, i, 'unchanged' from ${series}`,
  `insert into task_text_changes (task_id) select id from tasks limit ${ROWS}`,
  `insert into task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
   select 1, list_id, project_id, true, '{bug}', '{}' from tasks limit ${ROWS}`,
]
