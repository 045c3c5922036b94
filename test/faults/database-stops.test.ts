import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { audit } from '../support/audit.ts'
import { startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp, newDataDir } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'

const STOPS = 5

afterEach(cleanUp)

test(`${STOPS} times that PostgreSQL stops at once under load lose nothing and double nothing`, async () => {
  const dataDir = await newDataDir()
  const log = { info: () => undefined, warn: () => undefined }
  const { connectionString } = await startEmbedded({ dataDir, log, settings: SETTINGS })
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
