import { expect } from 'vitest'
import { FEEDBACK_SECRET } from './careful-client.ts'
import { type Inlet, spawnInlet } from './inlet-process.ts'

/** Several instances on one database, each at an address of its own that changes when it is started again. */
export async function startInstances(count: number, connectionString: string, env = {}) {
  const running = new Map<number, { inlet: Inlet; url: string }>()

  async function start(nth: number): Promise<void> {
    const inlet = spawnInlet({
      env: { DATABASE_URL: connectionString, WEBHOOK_SECRET: FEEDBACK_SECRET, ...env },
    })
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
    output: (nth: number) => running.get(nth)?.inlet.output() ?? '',
    pid: (nth: number) => running.get(nth)?.inlet.process.pid,
    async endAll() {
      const endings = await Promise.all([...running.keys()].map((nth) => end(nth, 'SIGTERM')))
      for (const ending of endings) expect(ending).toMatchObject({ code: 0 })
    },
  }
}
