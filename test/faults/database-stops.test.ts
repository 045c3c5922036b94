import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { adoptDatabase, changeSequencer } from '../../src/services/activity/sequencer.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { cleanUp, newDataDir } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'

const STOPS = 5

let dataDir: string
let connectionString: string

beforeEach(async () => {
  dataDir = await newDataDir()
  const log = { info: () => undefined, warn: () => undefined }
  ;({ connectionString } = await startEmbedded({ dataDir, log, settings: SETTINGS }))
})
afterEach(cleanUp)

describe('a PostgreSQL that stops at once', () => {
  test(`${STOPS} times under load loses nothing and doubles nothing`, async () => {
    const service = await startInstancesUnderLoad({ database: connectionString })

    const recoveries = await service.repeat(STOPS, async () => {
      await stopDatabase(dataDir, 'immediate')
      await sleep(1_000 * Math.random())
      await startDatabase(dataDir)
    })

    await service.expectNothingLost({
      fault: 'PostgreSQL stopped at once and started again',
      recoveries,
      maxRecoveryMs: 10_000,
      connectionString,
    })
  })

  test('keeps the positions of activity, and gives each activity one, although it assigns numbers of transactions again', async () => {
    await migrate(connectionString)
    const write = (client: pg.Client | Database['$client'], message: string) =>
      client.query(
        `insert into activity (id, type, message, actor_type, actor_name, metadata, created_at)
         values (gen_random_uuid(), 'test', $1, 'system', 'test', '{}', now())`,
        [message],
      )
    const db = openDatabase({ connectionString, size: 2, onError: () => undefined })
    const { changes } = repositories(db)
    const sequencer = changeSequencer({ changes, adopt: () => adoptDatabase(changes) })
    const lost = new pg.Client({ connectionString })
    lost.on('error', () => undefined)
    await lost.connect()
    await write(db.$client, 'before')
    await lost.query('begin')
    await write(lost, 'lost')
    const { end } = (await sequencer.catchUp()) as { end: object }

    await stopDatabase(dataDir, 'immediate')
    await startDatabase(dataDir)
    for (let n = 0; n < 20; n++) {
      await write(db.$client, `after ${n}`)
      await sequencer.catchUp()
    }

    const rows = await changes.list({ after: 0, to: 1_000, limit: 1_000 })
    const after = Array.from({ length: 20 }, (_, n) => `after ${n}`)
    expect(rows.map(({ message }) => message)).toEqual(['before', ...after])
    expect((await sequencer.catchUp()).end).toEqual({ ...end, position: 21 })
    await lost.end().catch(() => undefined)
    await db.$client.end()
  })
})
