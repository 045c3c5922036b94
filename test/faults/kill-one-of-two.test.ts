import { afterEach, expect, test } from 'vitest'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { freshDatabase } from '../support/postgres.ts'

const KILLS = 6

afterEach(cleanUp)

test(`${KILLS} SIGKILLs of one of two instances under load lose nothing and double nothing`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const service = await startInstancesUnderLoad({ database: connectionString, instances: 2 })
  const { instances } = service

  const recoveries = await service.repeat(KILLS, async (nth) => {
    const ended = instances.end(nth % 2, 'SIGKILL')
    return async () => {
      expect(await ended).toMatchObject({ signal: 'SIGKILL' })
      await instances.start(nth % 2)
    }
  })

  await service.expectNothingLost({
    fault: 'kill -9 of one of two instances',
    recoveries,
    maxRecoveryMs: 10_000,
    connectionString,
  })
  await drop()
})
