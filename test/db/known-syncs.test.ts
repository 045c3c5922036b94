import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { startApp } from '../support/app.ts'
import { migrateUpTo, newDatabase } from '../support/old-databases.ts'
import { withAdmin } from '../support/postgres.ts'
import { pipesOf } from '../support/status.ts'

type Run = [status: string, finishedAt: string | null, error?: object]

const TOKEN = { code: 'codehost_token_rejected', message: 'The token is invalid.' }

/** A connected repository with these runs, and one that is not connected any more. */
function connected(name: string, runs: Run[]): string {
  const [project, connection] = [randomUUID(), randomUUID()]
  const inserted = runs.flatMap(([status, finishedAt, error = null]) =>
    [connection, randomUUID()].map(
      (
        id,
      ) => `insert into sync_runs (id, project_id, connection_id, status, mode, counts, error, created_at, finished_at)
        values ('${randomUUID()}', '${project}', '${id}', '${status}', 'full', '{}', ${error ? `'${JSON.stringify(error)}'` : 'null'},
          now(), ${finishedAt ? `'${finishedAt}'` : 'null'});`,
    ),
  )
  return `
    insert into projects (id, name, created_at, updated_at) values ('${project}', '${name}', now(), now());
    insert into codehost_connections (id, project_id, repository_id, repository, api_url, schedule, next_full_at,
      connected_at, updated_at) values ('${connection}', '${project}', 1, '${name}', 'http://127.0.0.1:9', 'off', now(), now(), now());
    ${inserted.join('\n')}`
}

test('repositories that were synced before the status was counted say so after an upgrade', async () => {
  const [early, late] = ['2026-01-05T10:00:00.000Z', '2026-01-06T10:00:00.000Z']
  const connectionString = await newDatabase()
  await migrateUpTo(connectionString, '0072_feedback_overview')
  const rows = [
    connected('a/new', []),
    connected('b/works', [
      ['failed', early, TOKEN],
      ['completed', late],
    ]),
    connected('c/fails', [
      ['completed', early],
      ['failed', late, TOKEN],
    ]),
    connected('d/never', [['failed', early, TOKEN]]),
  ]
  await withAdmin(connectionString, (client) => client.query(rows.join('\n')))
  await migrate(connectionString)
  const service = await startApp({ connectionString })

  const pipes = (await pipesOf(service)).filter(({ kind }) => kind === 'sync')
  const shown = pipes.map(({ name, state, lastSuccessAt, lastError }) => [
    ...[name, state, lastSuccessAt],
    lastError && [lastError.at, lastError.code, lastError.detail],
  ])
  expect(shown).toEqual([
    ['c/fails', 'failing', early, [late, TOKEN.code, TOKEN.message]],
    ['d/never', 'failing', null, [early, TOKEN.code, TOKEN.message]],
    ['a/new', 'off', null, null],
    ['b/works', 'ok', late, [early, TOKEN.code, TOKEN.message]],
  ])
  expect(pipes).toHaveLength(4)
  expect(await service.query("select metadata from activity where type = 'pipe.failed'")).toEqual([])
  await service.close()
})
