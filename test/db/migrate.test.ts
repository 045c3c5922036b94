import { describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { startApp } from '../support/app.ts'
import { migrateUpTo, newDatabase, OLD_TASK, WAITING } from '../support/old-databases.ts'
import { withAdmin } from '../support/postgres.ts'

test('a database that a later version has migrated is refused, and left as it is', async () => {
  const connectionString = await newDatabase()
  await migrate(connectionString)
  await withAdmin(connectionString, (client) =>
    client.query(
      `insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`,
    ),
  )
  let isPrepared = false

  const refused = migrate(connectionString, {
    async prepare() {
      isPrepared = true
    },
  })

  await expect(refused).rejects.toThrow('it was migrated by a later version of Inlet. Start that version')
  expect(isPrepared).toBe(false)
})

describe('the migration for searches', () => {
  test('leaves the text of a database that has tasks to the worker, and searches find them at once', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0006_codehost')
    await withAdmin(connectionString, (client) => client.query(OLD_TASK))

    await migrate(connectionString)

    const service = await startApp({ connectionString })
    try {
      const find = async () => (await service.get('/api/tasks?q=OLDER')).body.data.length
      expect(await find()).toBe(1)
      const index = service.repos.transaction(
        async ({ taskTexts }) => (await taskTexts.claimIndexing()) && taskTexts.index(10),
      )
      expect(await index).toBe(1)
      expect(await find()).toBe(1)
      expect(await service.query('select title from task_texts')).toEqual([{ title: 'older than searches' }])
    } finally {
      await service.close()
    }
  })

  test('works where pg_trgm cannot be created, and searches find the same', async () => {
    const connectionString = await newDatabase()
    await withAdmin(connectionString, (client) => client.query(NO_EXTENSIONS))

    await migrate(connectionString)

    const service = await startApp({ connectionString })
    try {
      expect(await service.query(`select from pg_class where relname = 'task_texts_trigrams'`)).toEqual([])
      await service.post('/api/tasks', { title: 'Found without' })
      expect((await service.get('/api/tasks?q=WITHOUT')).body.data).toHaveLength(1)
      while (await service.service.tasks.indexTexts());
      expect((await service.get('/api/tasks?q=WITHOUT')).body.data).toHaveLength(1)
    } finally {
      await service.close()
    }
  })

  test('creates the index where pg_trgm can be created', async () => {
    const connectionString = await newDatabase()
    await migrate(connectionString)
    const { rows } = await withAdmin(connectionString, (client) =>
      client.query(`select indexdef from pg_indexes where indexname = 'task_texts_trigrams'`),
    )
    expect(rows).toEqual([
      { indexdef: expect.stringMatching(/gin \(title .*gin_trgm_ops, beginning .*gin_trgm_ops\)/) },
    ])
  })
})

describe('migrations of tasks', () => {
  test('let others read and write while one waits behind a slow reader', { timeout: 60_000 }, async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0010_shown_rules_order')
    await withAdmin(connectionString, (client) => client.query(OLD_TASK))
    await withAdmin(connectionString, async (slowReader) => {
      await slowReader.query('begin; select from tasks')
      const migrated = migrate(connectionString)
      migrated.catch(() => {})
      await withAdmin(connectionString, async (other) => {
        await other.query("set statement_timeout = '10s'")
        while (!(await other.query(WAITING)).rowCount);
        expect((await other.query('select from tasks')).rowCount).toBe(1)
        expect((await other.query("update tasks set labels = '{Found}'")).rowCount).toBe(1)
        expect((await other.query("select from pg_class where relname = 'tasks_labels'")).rowCount).toBe(1)
      })
      await slowReader.query('rollback')
      await migrated
    })
    const { rowCount } = await withAdmin(connectionString, (client) =>
      client.query(`select from pg_class where relname = 'tasks_deleted'`),
    )
    expect(rowCount).toBe(0)
  })

  test('add changes of counts that were not aggregated', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0019_faster_lower_names')
    await withAdmin(connectionString, async (client) => {
      await client.query(OLD_TASK)
      await client.query("update tasks set labels = '{Old}'")
    })

    await migrate(connectionString)

    const { rows } = await withAdmin(connectionString, (client) =>
      client.query(`select lists.open_count, task_names.open_count as label from lists, task_names`),
    )
    expect(rows).toEqual([{ open_count: 1, label: 1 }])
  })

  test.each([
    ['api', '"2025-12-31T23:59:59.120Z"', CREATED],
    ['analytics', '"2025-12-31T23:59:59.120Z"', '2025-12-31T23:59:59.120Z'],
    ['analytics', '"2026-02-01T00:00:00.000Z"', CREATED],
    ['analytics', '"2025-02-31T00:00:00.000Z"', CREATED],
    ['analytics', '"yesterday"', CREATED],
    ['analytics', '5', CREATED],
    ['analytics', 'null', CREATED],
    ['analytics', '{}', CREATED],
  ])('give a task of %s that occurred at %s the time it was opened', async (source, occurredAt, openedAt) => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0023_comments')
    await withAdmin(connectionString, async (client) => {
      await client.query(OLD_TASK)
      const metadata = `{"occurredAt": ${occurredAt}}`
      await client.query('update tasks set created_at = $1, source = $2, metadata = $3', [
        CREATED,
        source,
        metadata,
      ])
    })

    await migrate(connectionString)

    const { rows } = await withAdmin(connectionString, (client) =>
      client.query('select opened_at, is_draft, author_name from tasks'),
    )
    expect(rows).toEqual([{ opened_at: new Date(openedAt), is_draft: null, author_name: null }])
  })

  test('make a full run of each connection due, and restart one that has begun', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0023_comments')
    await withAdmin(connectionString, async (client) => {
      await client.query(OLD_TASK)
      await client.query(OLD_CONNECTION)
    })

    await migrate(connectionString)

    const { rows } = await withAdmin(connectionString, (client) =>
      client.query(`select checkpoint, next_full_at <= now() as is_full, next_run_at < now() + interval '6 minutes' as is_soon
        from codehost_connections join sync_runs on connection_id = codehost_connections.id`),
    )
    expect(rows).toEqual([{ checkpoint: null, is_full: true, is_soon: true }])
  })

  test('keep the webhook secret that a connection had before, until its time', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0050_leases')
    await withAdmin(connectionString, async (client) => {
      await client.query(OLD_TASK)
      await client.query(OLD_CONNECTION)
      await client.query(`update codehost_connections set webhook_secret = 'present',
        previous_webhook_secret = 'before', previous_webhook_secret_until = '2030-01-02T03:04:05.678+01:00'`)
    })

    await migrate(connectionString)

    const { rows } = await withAdmin(connectionString, (client) =>
      client.query('select webhook_secret, previous_webhook_secrets from codehost_connections'),
    )
    const previous_webhook_secrets = [{ secret: 'before', until: '2030-01-02T02:04:05.678Z' }]
    expect(rows).toEqual([{ webhook_secret: 'present', previous_webhook_secrets }])
  })

  test('keep the secrets that a source and a webhook had before, until their times', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0055_whole_responses')
    const id = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'
    const rotated = `'present', 'before', '2030-01-02T03:04:05.678+01:00'`
    await withAdmin(connectionString, async (client) => {
      await client.query(`insert into projects (id, name, is_default, created_at, updated_at)
        values ('${id}', 'A', false, now(), now())`)
      await client.query(`insert into sources (id, name, project_id, scheme, template, is_active, created_at, updated_at,
          secret, previous_secret, previous_secret_until)
        values ('${id}', 'Rotated', '${id}', 'bearer', '{}', true, now(), now(), ${rotated}),
          ('${id.replace(/1$/, '2')}', 'Not rotated', '${id}', 'bearer', '{}', true, now(), now(), 'present', null, null)`)
      await client.query(`insert into webhooks (id, name, url, types, is_active, position, created_at,
          secret, previous_secret, previous_secret_until)
        values ('${id}', 'Rotated', 'https://a.example', '{}', true, 0, now(), ${rotated})`)
    })

    await migrate(connectionString)

    const { rows } = await withAdmin(connectionString, (client) =>
      client.query(`select name, secret, previous_secrets from sources
        union all select name, secret, previous_secrets from webhooks order by name desc`),
    )
    const replaced = {
      secret: 'present',
      previous_secrets: [{ secret: 'before', until: '2030-01-02T02:04:05.678Z' }],
    }
    expect(rows).toEqual([
      { name: 'Rotated', ...replaced },
      { name: 'Rotated', ...replaced },
      { name: 'Not rotated', secret: 'present', previous_secrets: [] },
    ])
  })

  test('leave the planner with statistics on labels', async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0010_shown_rules_order')
    await withAdmin(connectionString, (client) => client.query(OLD_TASK))

    await migrate(connectionString)

    const { rowCount } = await withAdmin(connectionString, (client) =>
      client.query(`select from pg_stats_ext_exprs where statistics_name = 'tasks_label_names'`),
    )
    expect(rowCount).toBe(1)
  })
})

const CREATED = '2026-01-01T00:00:00.000Z'

const OLD_CONNECTION = `
  with connection as (
    insert into codehost_connections (id, project_id, repository_id, repository, api_url, schedule, next_run_at,
      next_full_at, connected_at, updated_at)
    select gen_random_uuid(), id, 1, 'acme/app', 'https://api.codehost.example', 'daily', now() + interval '1 day',
      now() + interval '6 days', now(), now() from projects limit 1 returning id, project_id
  )
  insert into sync_runs (id, project_id, connection_id, status, mode, counts, checkpoint, created_at)
  select gen_random_uuid(), project_id, id, 'running', 'full', '{}', '{"phase": "vanished"}', now() from connection`

/** As on a server whose administrator allows none. */
const NO_EXTENSIONS = `
  create function refuse() returns event_trigger language plpgsql as $$
  begin
    raise insufficient_privilege using message = 'permission denied to create extension "pg_trgm"';
  end $$;
  create event trigger refuse on ddl_command_start when tag in ('CREATE EXTENSION') execute function refuse()`
