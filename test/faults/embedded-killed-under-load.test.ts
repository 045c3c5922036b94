import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { audit } from '../support/audit.ts'
import { startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp, connectionStringOf, newDataDir, send, serverPid } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'

const KILLS = 3
const RECOVERY_MS = 10_000

afterEach(cleanUp)

test(`${KILLS} SIGKILLs of the embedded postmaster under load lose nothing and double nothing`, async () => {
  const dataDir = await newDataDir()
  const instances = await startInstances(1, { dataDir })
  const connectionString = await connectionStringOf(dataDir)
  const follower = followCarefully(instances.urls)
  await follower.ready
  const load = startLoad({ targets: instances.urls })
  await load.recovery()

  const recoveries: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(300 + 300 * Math.random())
    const pid = await serverPid(dataDir)
    if (!pid) throw new Error('No server runs.')
    send(pid, 'SIGKILL')
    // Its children answer until they notice.
    await expect.poll(() => serverPid(dataDir)).not.toBe(pid)
    recoveries.push(await load.recovery())
  }
  await load.stop()

  expect(load.tally.unexpected).toEqual([])
  await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged: load.acknowledged })
  await follower.expectCreated(load.acknowledged.tasks.keys())
  await follower.stop()
  expect(Math.max(...recoveries)).toBeLessThan(RECOVERY_MS)
  reportLoad('kill -9 of the embedded postmaster', load.tally, recoveries)
  await instances.endAll()
})
