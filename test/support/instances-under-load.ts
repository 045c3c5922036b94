import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { audit } from './audit.ts'
import { reportLoad } from './fault-report.ts'
import { startInstances } from './instances.ts'
import { startLoad } from './load-client.ts'
import { followStream } from './stream-follower.ts'

interface Options {
  /** A connection string, or the data directory of an embedded database. */
  database: Parameters<typeof startInstances>[1]
  instances?: number
  clients?: number
  /** Of each instance. */
  env?: Record<string, string>
}

interface Expected {
  /** The fault, as the report calls it. */
  fault: string
  recoveries: number[]
  maxRecoveryMs: number
  /** Around every network between the instances and their database. */
  connectionString: string
}

/** What has to be done once the clients have recovered: `start it again`. */
type Repair = () => Promise<unknown>

/** Instances that serve careful clients and a follower of the stream, all of them ready for a fault. */
export async function startInstancesUnderLoad({ database, instances: count = 1, clients = 8, env }: Options) {
  const instances = await startInstances(count, database, env)
  const follower = followStream(instances.urls)
  await follower.ready
  const load = startLoad({ targets: instances.urls, clients })
  await load.recovery()

  return {
    instances,
    load,

    /** Returns how long all clients took to recover from each. */
    async repeat(times: number, fault: (nth: number) => Promise<Repair | undefined>): Promise<number[]> {
      const recoveries: number[] = []
      for (let nth = 0; nth < times; nth++) {
        await sleep(300 + 300 * Math.random())
        const repair = await fault(nth)
        recoveries.push(await load.recovery())
        await repair?.()
      }
      return recoveries
    },

    /** Ends the load, checks that nothing acknowledged is lost or doubled, and reports the fault. */
    async expectNothingLost({ fault, recoveries, maxRecoveryMs, connectionString }: Expected): Promise<void> {
      await load.stop()
      const { tally, acknowledged } = load
      expect(tally.unexpected).toEqual([])
      await audit({ url: instances.urls()[0] ?? '', connectionString, acknowledged })
      await follower.expectCreated(acknowledged.tasks.keys())
      await follower.stop()
      expect(Math.max(...recoveries)).toBeLessThan(maxRecoveryMs)
      reportLoad(fault, { tally, recoveries })
      await instances.endAll()
    },
  }
}
