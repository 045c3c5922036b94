import type { FastifyBaseLogger } from 'fastify'
import type { Services } from '../services/index.ts'
import { every } from './timers.ts'

interface SourceBacklogWorkerDeps extends Pick<Services, 'sourceBacklog' | 'importing'> {
  logger: Pick<FastifyBaseLogger, 'warn'>
}

/** Processes pending deliveries of sources. */
export function startSourceBacklogWorker({ sourceBacklog, importing, logger }: SourceBacklogWorkerDeps) {
  const stopping = new AbortController()
  const { signal } = stopping
  // The deliveries are due again later.
  const onError = (err: unknown) => logger.warn({ err }, 'pending deliveries were interrupted')
  const start = async () => {
    if (!importing.isRunning()) await sourceBacklog.startDue({ signal, onError })
  }
  const timer = every(start, { ms: 1_000, logger })
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await timer.stop()
      await sourceBacklog.whenIdle()
    },
  }
}
