import { afterEach, expect, test } from 'vitest'
import { cleanUp, connectionStringOf, newDataDir, send, serverPid } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'

const KILLS = 3

afterEach(cleanUp)

test(`${KILLS} SIGKILLs of the embedded postmaster under load lose nothing and double nothing`, async () => {
  const dataDir = await newDataDir()
  const service = await startInstancesUnderLoad({ database: { dataDir } })
  const connectionString = await connectionStringOf(dataDir)

  const recoveries = await service.repeat(KILLS, async () => {
    const pid = await serverPid(dataDir)
    if (!pid) throw new Error('No server runs.')
    send(pid, 'SIGKILL')
    // Its children respond until they notice.
    await expect.poll(() => serverPid(dataDir)).not.toBe(pid)
  })

  await service.expectNothingLost({
    fault: 'kill -9 of the embedded postmaster',
    recoveries,
    maxRecoveryMs: 10_000,
    connectionString,
  })
})
