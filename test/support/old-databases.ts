import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { applyMigrations } from '../../src/db/apply-migrations.ts'
import { emptyDatabase, withAdmin } from './postgres.ts'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))

/** A migration that waits for a lock on tasks that nobody else may have. */
export const WAITING = `
  select from pg_locks where not granted and relation = 'tasks'::regclass and mode = 'AccessExclusiveLock'`

export const OLD_TASK = `
  with project as (
    insert into projects (id, name, created_at, updated_at) values (gen_random_uuid(), 'Old', now(), now()) returning id
  ), list as (
    insert into lists (id, project_id, name, position, created_at)
    select gen_random_uuid(), id, 'Inbox', 0, now() from project returning id, project_id
  )
  insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
    created_by_type, created_by_name, created_at, updated_at, version)
  select gen_random_uuid(), 'Older than SEARCHES', 'open', 2, 'api', project_id, id, '{}', '{}', '{}',
    'key', 'old', now(), now(), 1 from list`

/** Dropped after the test. */
export async function newDatabase(): Promise<string> {
  const { connectionString, drop } = await emptyDatabase()
  onTestFinished(drop)
  return connectionString
}

/** As an older version left it. */
export async function migrateUpTo(connectionString: string, last: string) {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(migrations, folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8'))
  const end = journal.entries.findIndex(({ tag }: { tag: string }) => tag === last) + 1
  await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, end) }))
  await withAdmin(connectionString, (client) => applyMigrations(client, { migrationsFolder: folder }))
}
