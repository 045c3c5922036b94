import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { audit } from '../support/audit.ts'
import { startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'

const KILLS = 10

afterEach(cleanUp)

test(`${KILLS} SIGKILLs of one of two instances under load lose nothing and double nothing`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const follower = followCarefully(instances.urls)
  await follower.ready
  const load = startLoad({ targets: instances.urls })
  await load.recovery()

  const recoveries: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(200 + 300 * Math.random())
    const ended = instances.end(kill % 2, 'SIGKILL')
    recoveries.push(await load.recovery())
    expect(await ended).toMatchObject({ signal: 'SIGKILL' })
    await instances.start(kill % 2)
  }
  await load.stop()

  expect(load.tally.unexpected).toEqual([])
  await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged: load.acknowledged })
  await follower.expectCreated(load.acknowledged.tasks.keys())
  await follower.stop()
  reportLoad('kill -9 of one of two instances', load.tally, recoveries)
  await instances.endAll()
  await drop()
})
