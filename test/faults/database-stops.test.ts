import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { audit } from '../support/audit.ts'
import { startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp, newDataDir } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'

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
    const instances = await startInstances(1, connectionString)
    const follower = followCarefully(instances.urls)
    await follower.ready
    const load = startLoad({ targets: instances.urls })
    await load.recovery()

    const recoveries: number[] = []
    for (let stop = 0; stop < STOPS; stop++) {
      await sleep(300 + 300 * Math.random())
      await stopDatabase(dataDir, 'immediate')
      await sleep(1_000 * Math.random())
      await startDatabase(dataDir)
      recoveries.push(await load.recovery())
    }
    await load.stop()

    expect(load.tally.unexpected).toEqual([])
    await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged: load.acknowledged })
    await follower.expectCreated(load.acknowledged.tasks.keys())
    await follower.stop()
    expect(Math.max(...recoveries)).toBeLessThan(10_000)
    reportLoad('PostgreSQL stopped at once and started again', load.tally, recoveries)
    await instances.endAll()
  })

  test('has another life afterwards, in which numbers of transactions are given a second time', async () => {
    await migrate(connectionString)
    const db = openDatabase({ connectionString, size: 1, onError: () => undefined })
    const { activityLog: tail } = repositories(db)
    const before = await tail.snapshot()
    expect((await tail.snapshot()).life).toBe(before.life)

    await stopDatabase(dataDir, 'immediate')
    await startDatabase(dataDir)
    const crashed = await tail.snapshot()
    await stopDatabase(dataDir)
    await startDatabase(dataDir)

    expect(crashed.life).not.toBe(before.life)
    expect((await tail.snapshot()).life).toBe(crashed.life)
    await db.$client.end()
  })
})
