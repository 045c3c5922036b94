import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { audit } from '../support/audit.ts'
import { type Load, startLoad } from '../support/careful-client.ts'
import { followCarefully } from '../support/careful-follower.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { reportLoad } from '../support/fault-report.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'
import { NO_ANSWER } from '../support/retrying-client.ts'

type Proxy = Awaited<ReturnType<typeof startDatabaseProxy>>

let database: Awaited<ReturnType<typeof freshDatabase>>
let proxy: Proxy
let instances: Awaited<ReturnType<typeof startInstances>>
let follower: ReturnType<typeof followCarefully>
let load: Load

beforeEach(async () => {
  database = await freshDatabase()
  proxy = await startDatabaseProxy(database.connectionString)
  instances = await startInstances(1, proxy.connectionString)
  follower = followCarefully(instances.urls)
  await follower.ready
  load = startLoad({ targets: instances.urls })
  await load.recovery()
})

afterEach(async () => {
  proxy.close()
  await cleanUp()
  await database.drop()
})

describe('a network that fails between the service and its database, under load, loses and doubles nothing', () => {
  test('when all connections are cut, 3 times', async () => {
    await hurt('database connections cut', 3, async () => {
      proxy.cut()
    })
    await instances.endAll()
  })

  test('when every answer is delayed by 500 ms for 5 s, 3 times', async () => {
    await hurt('database answers delayed by 500 ms for 5 s', 3, async () => {
      proxy.delay(500)
      await sleep(5_000)
      proxy.delay(0)
    })
    await instances.endAll()
  })

  test('when nothing comes through for 5 s, 3 times', async () => {
    await hurt('database connections black-holed for 5 s', 3, async () => {
      proxy.hold()
      await sleep(5_000)
      proxy.release()
    })
    await instances.endAll()
  })

  test('when connections go dead and nobody says so: everything finds new ones, and ends well', async () => {
    const since = new Date()
    await hurt(
      'database connections dead without a word',
      1,
      async () => {
        proxy.strand()
      },
      { recoveryMs: 25_000 },
    )

    const names = ['inlet', 'inlet jobs', 'inlet listen']
    await expect.poll(() => connectedSince(since), { timeout: 30_000 }).toEqual(names)
    await instances.endAll()
  })
})

async function hurt(name: string, times: number, fault: () => Promise<void>, { recoveryMs = 10_000 } = {}) {
  const recoveries: number[] = []
  for (let time = 0; time < times; time++) {
    await sleep(500)
    await fault()
    recoveries.push(await load.recovery())
  }
  await load.stop()

  const { tally, acknowledged } = load
  expect(tally.unexpected).toEqual([])
  expect([...tally.retries.keys()].filter((reason) => reason.startsWith(NO_ANSWER))).toEqual([])
  expect(Math.max(...recoveries)).toBeLessThan(recoveryMs)
  const { connectionString } = database
  await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged })
  await follower.expectCreated(acknowledged.tasks.keys())
  await follower.stop()
  reportLoad(name, tally, recoveries)
}

/** By application name: who has a connection that was made since. */
async function connectedSince(since: Date): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  const { rows } = await client
    .query(
      `select distinct application_name as name from pg_stat_activity
       where datname = current_database() and application_name like 'inlet%' and backend_start > $1 order by name`,
      [since],
    )
    .finally(() => client.end())
  return rows.map(({ name }) => name)
}
