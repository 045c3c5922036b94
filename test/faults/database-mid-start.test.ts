import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { startDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { cleanUp, killServer, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { sendJson } from '../support/send-json.ts'

afterEach(cleanUp)

test('a database that is killed during the first migration is waited for with one line, and then migrated', {
  timeout: 120_000,
}, async () => {
  const { dataDir, env, isMigrating } = await givenBlockedMigration()
  const inlet = spawnInlet({ env })
  await expect.poll(isMigrating, { timeout: 60_000 }).toBe(true)

  await killServer(dataDir)
  await expect.poll(inlet.output, { timeout: 60_000 }).toContain('waiting for the database')
  await startDatabase(dataDir)

  await expectToWork(await inlet.url)
  expect(inlet.output().match(/waiting for the database/g)).toHaveLength(1)
  expect(inlet.output()).not.toContain('    at ')
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
})

test('a start that is killed with its database, during the first migration, is made up for by the next one', {
  timeout: 120_000,
}, async () => {
  const { dataDir, env, isMigrating } = await givenBlockedMigration()
  const killed = spawnInlet({ env })
  await expect.poll(isMigrating, { timeout: 60_000 }).toBe(true)

  await killServer(dataDir)
  killed.process.kill('SIGKILL')
  await killed.ended
  await startDatabase(dataDir)

  await expectToWork(await spawnInlet({ env }).url)
})

/** Another transaction has made a table of the schema: a migration waits for it. */
async function givenBlockedMigration() {
  const dataDir = await newDataDir()
  const log = { info: () => undefined, warn: () => undefined }
  const { connectionString } = await startEmbedded({ dataDir, log, settings: SETTINGS })
  const [other, observer] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  for (const client of [other, observer]) {
    client.on('error', () => {})
    await client.connect()
  }
  await other.query('begin; create table projects ()')
  const isMigrating = async () => {
    const { rowCount } = await observer.query(
      `select from pg_stat_activity where application_name = 'inlet start' and wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  }
  return { dataDir, env: { DATABASE_URL: connectionString }, isMigrating }
}

async function expectToWork(url: string): Promise<void> {
  const response = await sendJson(`${url}/api/tasks`, {
    method: 'POST',
    body: { title: 'After all' },
  })
  expect(response.status).toBe(201)
}
