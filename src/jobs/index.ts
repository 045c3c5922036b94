import type { FastifyBaseLogger } from 'fastify'
import type { Services } from '../services/index.ts'
import { startCleanupWorker } from './cleanup.ts'
import { startOutboxWorker } from './outbox.ts'
import { startPushWorker } from './push.ts'
import { startSourceBacklogWorker } from './source-backlog.ts'
import { startSyncWorker } from './sync.ts'
import { every, paced } from './timers.ts'
import { startWebhookWorker } from './webhooks.ts'
import { asJob } from './woken.ts'

interface JobsDeps {
  services: Services
  logger: FastifyBaseLogger
}

export interface Jobs {
  /** Waits for running jobs, then closes. */
  stop(): Promise<void>
}

/** Starts the background worker: its jobs and their schedule. */
export const startJobs = (deps: JobsDeps): Jobs => asJob(() => start(deps))

function start({ services, logger }: JobsDeps): Jobs {
  const {
    access,
    claims,
    cleanup,
    importing,
    lists,
    metrics,
    notificationFeed,
    outbox,
    overviewCounting,
    projects,
    push,
    sequencer,
    sourceBacklog,
    statistics,
    status,
    sync,
    taskCounts,
    tasks,
  } = services
  /** During an import, work on tasks would only wait for its locks. */
  const unlessImporting =
    <Args extends unknown[]>(work: (...args: Args) => Promise<boolean>) =>
    async (...args: Args) =>
      !importing.isRunning() && work(...args)
  const cleanupWorker = startCleanupWorker({ cleanup, importing, metrics, logger })
  const backlogWorker = startSourceBacklogWorker({ sourceBacklog, importing, logger })
  const syncWorker = startSyncWorker({ sync, logger })
  const pushWorker = startPushWorker({ push, logger })
  const outboxWorker = startOutboxWorker({ outbox, logger })
  const webhookWorker = startWebhookWorker({ webhookQueue: services.webhookQueue, logger })

  const timers = [
    every(
      async () => {
        if (!importing.isRunning()) await access.flushLastUsed()
      },
      { ms: 5_000, logger },
    ),
    every(
      async () => {
        // It would wait for the locks of an import.
        if (importing.isRunning()) return
        await status.flush()
        await status.logChanges()
      },
      { ms: 1_000, logger },
    ),
    // Pauses leave processor time to requests.
    // For the next reader: while there is one, it does this itself.
    paced(() => sequencer.work(), { shares: { busy: 0.5, quiet: 0.9 }, pauseMs: 2_000, logger }),
    paced(
      unlessImporting(() => taskCounts.aggregate()),
      { shares: { busy: 0.5, quiet: 0.9 }, pauseMs: 2_000, logger },
    ),
    // About 1,000 changes a second of a busy process, for which a larger share would make creates more than 2 % slower.
    // Longer pauses than with the others: with shorter ones, the share would be larger.
    paced(
      unlessImporting(() => overviewCounting.work()),
      { shares: { busy: 0.03, quiet: 0.9 }, pauseMs: 5_000, logger },
    ),
    // As the one before, but people wait for it.
    paced(
      unlessImporting(() => notificationFeed.work()),
      { shares: { busy: 0.03, quiet: 0.9 }, pauseMs: 1_000, logger },
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
    paced(
      unlessImporting(() => tasks.wake()),
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
      const workers = [backlogWorker, cleanupWorker, syncWorker, pushWorker, outboxWorker, webhookWorker]
      await Promise.all([...timers, ...workers].map((each) => each.stop()))
      await access.flushLastUsed().catch((err) => logger.warn({ err }, 'last-used times were not written'))
      await status.flush().catch((err) => logger.warn({ err }, 'the last attempts were not counted'))
    },
  }
}
