import type { FastifyBaseLogger } from 'fastify'
import { PgBoss } from 'pg-boss'
import { traced } from '../lib/traced.ts'
import type { Services } from '../services/index.ts'
import { startOutboxWorker } from './outbox.ts'
import { startPushWorker } from './push.ts'
import { startSyncWorker } from './sync.ts'
import { every, paced, pausing } from './timers.ts'
import { startWebhookWorker } from './webhooks.ts'
import { asJob } from './woken.ts'

interface JobsDeps {
  /** Other options of the driver's pool are passed on. */
  connection: { connectionString: string }
  services: Services
  logger: FastifyBaseLogger
}

export interface Jobs {
  /** Waits for running jobs, then closes. */
  stop(): Promise<void>
}

/** Starts the background worker: its jobs and their schedule. Scheduled jobs run once across all instances. */
export const startJobs = (deps: JobsDeps): Promise<Jobs> => asJob(() => start(deps))

async function start({ connection, services, logger }: JobsDeps): Promise<Jobs> {
  const {
    access,
    claims,
    cleanup,
    importing,
    lists,
    metrics,
    outbox,
    projects,
    push,
    sequencer,
    statistics,
    sync,
    taskCounts,
    tasks,
  } = services
  /** During an import, work on tasks would only wait for its locks. */
  const unlessImporting =
    <Args extends unknown[]>(work: (...args: Args) => Promise<boolean>) =>
    async (...args: Args) =>
      !importing.isRunning() && work(...args)
  const boss = new PgBoss({ ...connection, application_name: 'inlet jobs', max: 2 })
  // Usually the database is unavailable; pg-boss resumes when it is back.
  boss.on('error', (err) => logger.warn({ err }, 'background worker error'))
  try {
    await boss.start()
    await boss.createQueue('sweep', { policy: 'singleton', retryLimit: 3, retryBackoff: true })
    await boss.schedule('sweep', '*/10 * * * *')
    await boss.work('sweep', { pollingIntervalSeconds: 30 }, async () => {
      if (importing.isRunning()) return
      const pause = pausing({ shares: { busy: 0.3, quiet: 0.9 }, maxMs: 1_000 })
      const work = () => metrics.timed('sweep', () => cleanup.cleanUp(pause))
      logger.info(await traced({ name: 'cleanup', kind: 'job' }, work), 'cleanup finished')
    })
  } catch (error) {
    // The next attempt creates a new worker, and this one would keep its connections and timers.
    await boss.stop({ graceful: false }).catch((err) => logger.warn({ err }, 'background worker error'))
    throw error
  }

  const syncWorker = startSyncWorker({ sync, logger })
  const pushWorker = startPushWorker({ push, logger })
  const outboxWorker = startOutboxWorker({ outbox, logger })
  const webhookWorker = startWebhookWorker({ webhookQueue: services.webhookQueue, logger })

  const timers = [
    every(() => access.flushLastUsed(), { ms: 5_000, logger }),
    // Pauses leave processor time to requests.
    // For the next reader: while there is one, it does this itself.
    paced(() => sequencer.work(), { shares: { busy: 0.5, quiet: 0.9 }, pauseMs: 2_000, logger }),
    paced(
      unlessImporting(() => taskCounts.aggregate()),
      { shares: { busy: 0.5, quiet: 0.9 }, pauseMs: 2_000, logger },
    ),
    // Pages of a table that was never analyzed are slow; the threshold of its growth makes this rare.
    paced(
      unlessImporting(() => statistics.refresh()),
      { shares: { busy: 0.3, quiet: 0.9 }, pauseMs: 2_000, logger },
    ),
    paced(
      unlessImporting(() => claims.openExpired()),
      { shares: { busy: 0.5, quiet: 0.9 }, pauseMs: 2_000, logger },
    ),
    // One deletion has its turn at a time: this is the share of all instances.
    ...[lists, projects].map(({ workOnDeletions }) =>
      paced(unlessImporting(workOnDeletions), { shares: { busy: 0.6, quiet: 0.9 }, pauseMs: 1_000, logger }),
    ),
    // About 400 tasks a second on an idle machine: indexing a million existing tasks takes 40 minutes. Half that rate
    // during heavy writes.
    paced(
      unlessImporting(() => tasks.indexTexts()),
      { shares: { busy: 0.2, quiet: 0.5 }, pauseMs: 500, logger },
    ),
  ]

  return {
    async stop() {
      const workers = [syncWorker, pushWorker, outboxWorker, webhookWorker]
      await Promise.all([...timers, ...workers].map((each) => each.stop()))
      await boss.stop({ graceful: true, timeout: 5_000 })
      await access.flushLastUsed().catch((err) => logger.warn({ err }, 'last-used times were not written'))
    },
  }
}
