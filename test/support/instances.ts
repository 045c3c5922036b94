import { expect } from 'vitest'
import { type Inlet, spawnInlet } from './inlet-process.ts'
import { FEEDBACK_SECRET } from './load-client.ts'

/**
 * Several instances on one database, each at an address of its own that changes when it is started again. The database
 * is named by a connection string, or embedded in a data directory.
 */
export async function startInstances(
  count: number,
  database: string | { dataDir: string },
  given: Record<string, string> = {},
) {
  const running = new Map<number, { inlet: Inlet; url: string }>()

  async function start(nth: number): Promise<void> {
    const env = { WEBHOOK_SECRET: FEEDBACK_SECRET, ...given }
    const inlet =
      typeof database === 'string'
        ? spawnInlet({ env: { DATABASE_URL: database, ...env } })
        : spawnInlet({ dataDir: database.dataDir, env })
    running.set(nth, { inlet, url: await inlet.url })
  }

  /** Where one that is not there any more was stays among the addresses, as with a balancer that does not know yet. */
  async function end(nth: number, signal: NodeJS.Signals) {
    const { inlet } = running.get(nth) ?? {}
    inlet?.process.kill(signal)
    return inlet?.ended
  }

  await Promise.all(Array.from({ length: count }, (_, nth) => start(nth)))

  return {
    start,
    end,
    urls: () => [...running.values()].map(({ url }) => url),
    pid: (nth: number) => running.get(nth)?.inlet.process.pid,
    async endAll() {
      const endings = await Promise.all([...running.keys()].map((nth) => end(nth, 'SIGTERM')))
      for (const ending of endings) expect(ending).toMatchObject({ code: 0 })
    },
  }
}
