import { afterEach, expect, test } from 'vitest'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { freshDatabase } from '../support/postgres.ts'

const ROUNDS = 3

afterEach(cleanUp)

test(`${ROUNDS} rounds of SIGTERM for each of two instances in turn under load fail no request`, {
  timeout: 240_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const service = await startInstancesUnderLoad({ database: connectionString, instances: 2, clients: 4 })
  const { instances, load } = service

  const recoveries = await service.repeat(2 * ROUNDS, async (nth) => {
    const ended = instances.end(nth % 2, 'SIGTERM')
    return async () => {
      expect(await ended).toMatchObject({ code: 0 })
      await instances.start(nth % 2)
      await load.recovery()
    }
  })

  await service.expectNothingLost({
    fault: 'SIGTERM of each of two instances in turn',
    recoveries,
    maxRecoveryMs: 10_000,
    connectionString,
  })
  // A refused connection sent no request, so none failed: a load balancer connects elsewhere, as the clients do here.
  // Linux resets what connects between the last `accept` and the end of listening: microseconds, for each of the signals.
  const { ECONNREFUSED, ECONNRESET = 0, ...failures } = Object.fromEntries(load.tally.retries)
  expect(failures).toEqual({})
  expect(ECONNRESET).toBeLessThan(2)
  await drop()
})
