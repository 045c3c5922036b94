import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { freshDatabase } from '../support/postgres.ts'
import { NO_RESPONSE } from '../support/retrying-client.ts'

const TIMES = 3

let database: Awaited<ReturnType<typeof freshDatabase>>
let proxy: Awaited<ReturnType<typeof startDatabaseProxy>>
let service: Awaited<ReturnType<typeof startInstancesUnderLoad>>

beforeEach(async () => {
  database = await freshDatabase()
  proxy = await startDatabaseProxy(database.connectionString)
  service = await startInstancesUnderLoad({ database: proxy.connectionString })
})

afterEach(async () => {
  proxy.close()
  await cleanUp()
  await database.drop()
})

describe('a network that fails between the service and its database, under load, loses and doubles nothing', () => {
  test(`when all connections are cut, ${TIMES} times`, async () => {
    const recoveries = await service.repeat(TIMES, async () => {
      proxy.cut()
    })
    await expectNothingLost('database connections cut', { recoveries })
  })

  test(`when every response is delayed by 500 ms for 5 s, ${TIMES} times`, async () => {
    const recoveries = await service.repeat(TIMES, async () => {
      proxy.delay(500)
      await sleep(5_000)
      proxy.delay(0)
    })
    await expectNothingLost('database responses delayed by 500 ms for 5 s', { recoveries })
  })

  test(`when nothing comes through for 5 s, ${TIMES} times`, async () => {
    const recoveries = await service.repeat(TIMES, async () => {
      proxy.pause()
      await sleep(5_000)
      proxy.resume()
    })
    await expectNothingLost('database connections black-holed for 5 s', { recoveries })
  })

  test('when connections go dead without a word: each part opens new ones', async () => {
    const since = new Date()
    const recoveries = await service.repeat(1, async () => {
      proxy.strand()
    })

    const names = ['inlet', 'inlet listen']
    await expect.poll(() => connectedSince(since), { timeout: 30_000 }).toEqual(names)
    await expectNothingLost('database connections dropped silently', { recoveries, maxRecoveryMs: 25_000 })
  })
})

interface Recoveries {
  recoveries: number[]
  maxRecoveryMs?: number
}

async function expectNothingLost(fault: string, { recoveries, maxRecoveryMs = 10_000 }: Recoveries) {
  const { connectionString } = database
  await service.expectNothingLost({ fault, recoveries, maxRecoveryMs, connectionString })
  const reasons = [...service.load.tally.retries.keys()]
  expect(reasons.filter((reason) => reason.startsWith(NO_RESPONSE))).toEqual([])
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
