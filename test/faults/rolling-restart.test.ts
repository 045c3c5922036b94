import { afterEach, expect, test } from 'vitest'
import { audit } from '../support/audit.ts'
import { startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'

const ROUNDS = 5

afterEach(cleanUp)

test(`${ROUNDS} rounds of SIGTERM for each of two instances in turn under load fail no request`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const follower = followCarefully(instances.urls)
  await follower.ready
  const load = startLoad({ targets: instances.urls, clients: 4 })
  await load.recovery()

  const recoveries: number[] = []
  for (let turn = 0; turn < 2 * ROUNDS; turn++) {
    const ended = instances.end(turn % 2, 'SIGTERM')
    recoveries.push(await load.recovery())
    expect(await ended).toMatchObject({ code: 0 })
    await instances.start(turn % 2)
    await load.recovery()
  }
  await load.stop()

  const { tally, acknowledged } = load
  expect(tally.unexpected).toEqual([])
  // A refused connection sent no request, so none failed: a load balancer connects elsewhere, as the clients do here.
  expect([...tally.retries.keys()].filter((reason) => reason !== 'ECONNREFUSED')).toEqual([])
  await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged })
  await follower.expectCreated(acknowledged.tasks.keys())
  await follower.stop()
  reportLoad('SIGTERM of each of two instances in turn', tally, recoveries)
  await instances.endAll()
  await drop()
})
