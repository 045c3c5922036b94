import type { FastifyBaseLogger } from 'fastify'
import { PgBoss } from 'pg-boss'
import type { Services } from '../services/index.ts'
import { startSyncWorker } from './sync.ts'
import { every, sparingly } from './timers.ts'

interface JobsDeps {
  /** And whatever else the driver's pool takes. */
  connection: { connectionString: string }
  services: Services
  logger: FastifyBaseLogger
}

export interface Jobs {
  /** Lets what runs finish, then closes. */
  stop(): Promise<void>
}

/** The background worker: its tasks and when they run. Scheduled ones run once over all instances. */
export async function startJobs({ connection, services, logger }: JobsDeps): Promise<Jobs> {
  const { access, cleanup: housekeeping, lists, metrics, projects, sync, taskNames, tasks } = services
  const boss = new PgBoss({ ...connection, application_name: 'inlet jobs', max: 2 })
  // Mostly a database that is away: it goes on when the database is back.
  boss.on('error', (err) => logger.warn({ err }, 'background worker'))
  try {
    await boss.start()
    await boss.createQueue('sweep', { policy: 'singleton', retryLimit: 3, retryBackoff: true })
    await boss.schedule('sweep', '*/10 * * * *')
    await boss.work('sweep', { pollingIntervalSeconds: 30 }, async () => {
      logger.info(await metrics.timed('sweep', () => housekeeping.cleanUp()), 'swept')
    })
  } catch (error) {
    // The next attempt is another worker: this one would keep its connections and its timers.
    await boss.stop({ graceful: false }).catch((err) => logger.warn({ err }, 'background worker'))
    throw error
  }

  const syncWorker = startSyncWorker({ sync, logger })

  const timers = [
    every(5_000, () => access.flushLastUsed(), logger),
    every(2_000, () => lists.aggregateOpenCounts(), logger),
    every(2_000, () => taskNames.aggregate(), logger),
    // Others wait for none of it longer than a bite takes: it rests only to leave them the processor.
    ...[lists, projects].map(({ workOnDeletions }) =>
      sparingly({ shares: { busy: 0.5, quiet: 0.8 }, pauseMs: 1_000 }, workOnDeletions, logger),
    ),
    // Some 400 tasks a second where nothing else happens: a million that were here before their text was indexed take
    // 40 minutes. Half as many beside a flood of writes.
    sparingly({ shares: { busy: 0.2, quiet: 0.5 }, pauseMs: 500 }, () => tasks.indexTexts(), logger),
  ]

  return {
    async stop() {
      for (const timer of timers) timer.stop()
      await syncWorker.stop()
      await boss.stop({ graceful: true, timeout: 5_000 })
      await access.flushLastUsed().catch((err) => logger.warn({ err }, 'last-used times were not written'))
    },
  }
}
