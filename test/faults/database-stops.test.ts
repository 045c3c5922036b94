import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
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

  test('is a new life of the database afterwards, in which numbers of transactions are reused', async () => {
    await migrate(connectionString)
    const db = openDatabase({ connectionString, size: 1, onError: () => undefined })
    const { activityLog } = repositories(db)
    const before = await activityLog.snapshot()
    expect((await activityLog.snapshot()).life).toBe(before.life)

    await stopDatabase(dataDir, 'immediate')
    await startDatabase(dataDir)
    const crashed = await activityLog.snapshot()
    await stopDatabase(dataDir)
    await startDatabase(dataDir)

    expect(crashed.life).not.toBe(before.life)
    expect((await activityLog.snapshot()).life).toBe(crashed.life)
    await db.$client.end()
  })
})
