import type { SourceReading } from '../../domain/sources/reading.ts'
import { storedUnread } from '../../domain/sources/stored-payload.ts'
import { isConflict, isUnavailable } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isOver } from '../../lib/turns.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { BacklogRow } from '../../repositories/sources/backlog.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { LogFailure } from '../codehost/failures.ts'
import { outcomeOf } from '../deliveries/receiver.ts'
import type { PipeRecorder, Recorder, SourceOutcome } from '../recorder.ts'
import { retryDecision } from '../retry-decision.ts'
import { definitionOf } from './definition.ts'
import { deliveryWriter } from './delivery.ts'
import type { PayloadReader } from './reader.ts'
import { errorsOf, rowOf, storeUntaken } from './receiving.ts'
import { externalIdsIn, lockProjects } from './tasks.ts'

/** Templates take a few seconds at most, but may wait for those of others. */
const LEASE_MS = 30_000
/** Sources whose deliveries are in memory at the same time. */
const MAX_SOURCES = 10

interface Work {
  /** Once aborted, the rest stays for the next start, or for another instance. */
  signal: AbortSignal
  onError(error: unknown): void
}

interface BacklogDeps {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'readInShare'>
  metrics: Pick<Recorder, 'sourceDelivered'>
  pipes: PipeRecorder
  logFailure?: LogFailure | undefined
}

/**
 * Processes pending deliveries, those of a source one after the other, as the share of their source allows. Those of a
 * source that is switched off wait until it is on.
 */
export function sourceBacklogService({ repos, clock, reader, metrics, pipes, logFailure }: BacklogDeps) {
  const { sources, sourceBacklog } = repos.within(everywhere)
  const writeDeliveries = deliveryWriter({ clock })
  const working = new Map<string, Promise<void>>()

  return {
    /** Starts with what is due. */
    async startDue({ signal, onError }: Work): Promise<void> {
      const limit = MAX_SOURCES - working.size
      if (limit === 0) return
      for (const pending of await sourceBacklog.claim({ leaseMs: LEASE_MS, limit })) {
        const { sourceId } = pending
        if (working.has(sourceId)) continue
        const ended = workOn(pending, signal)
          .catch(onError)
          .finally(() => working.delete(sourceId))
        working.set(sourceId, ended)
      }
    },

    /** Resolves when nothing is being worked on. */
    whenIdle: async (): Promise<void> => {
      await Promise.all(working.values())
    },
  }

  async function workOn(first: BacklogRow, signal: AbortSignal): Promise<void> {
    const { sourceId } = first
    for (let pending: BacklogRow | undefined = first; pending; ) {
      const isDone = await process(pending)
      if (!isDone || signal.aborted) return
      ;[pending] = await sourceBacklog.claim({ leaseMs: LEASE_MS, limit: 1, sourceId })
    }
  }

  /** False if it has to wait. After an error it is due again when its lease is over. */
  async function process({ deliveryId, sourceId, body }: BacklogRow): Promise<boolean> {
    const source = await sources.find(sourceId)
    // Deleted with its deliveries.
    if (!source) return false
    const reading = await reader.readInShare({ definition: definitionOf(source), bytes: body }, sourceId)
    if (isOver(reading)) {
      await sourceBacklog.postpone(deliveryId, reading.overForMs)
      return false
    }
    const about = { projectId: source.projectId, sourceId, deliveryId }
    const store = (reading: SourceReading) =>
      redacted(() => retryDecision(() => stored(deliveryId, { source, reading })))
    const outcome = await store(reading).catch((err) => {
      if (isUnavailable(err) || isConflict(err)) throw err
      logFailure?.({ ...about, code: 'internal_error', err }, 'delivery of a source failed')
      // It would fail again, and those after it would wait for ever.
      return store(notProcessed(body))
    })
    if (!outcome) return false
    metrics.sourceDelivered(outcome)
    const pipe = { kind: 'source', id: sourceId } as const
    const [error] = reading.outcome === 'accepted' ? [] : (errorsOf(reading) ?? [])
    if (error) logFailure?.({ ...about, code: error.code }, 'delivery of a source failed')
    if (TAKEN.has(outcome)) pipes.succeeded(pipe)
    else pipes.failed(pipe, error ?? NOT_PROCESSED)
    return true
  }

  /** Undefined if another instance has stored it, or its source is gone or off by now. */
  async function stored(
    deliveryId: string,
    { source: { id, projectId }, reading }: { source: SourceRow; reading: SourceReading },
  ): Promise<SourceOutcome | undefined> {
    const tasks = reading.outcome === 'accepted' ? reading.tasks : []
    return repos.within(everywhere).transaction(async (repos) => {
      const items = externalIdsIn(id, tasks)
      const projects = await lockProjects(repos, { projectIds: [projectId], items })
      const source = await repos.sources.findForUpdate(id)
      const pending = source?.isActive ? await repos.sourceBacklog.take(deliveryId) : undefined
      if (!source || !pending) return undefined
      const row = rowOf({ ...pending, sourceId: id, projectId: source.projectId }, reading)
      if (reading.outcome !== 'accepted') {
        await storeUntaken(repos, { clock, source, row, reading })
        return reading.outcome === 'filtered' ? 'ignored' : reading.outcome
      }
      const { receivedAt: sentAt } = pending
      const [receipt] = await writeDeliveries(repos, {
        deliveries: [{ source, row, tasks }],
        projects,
        sentAt,
      })
      return receipt && outcomeOf(receipt)
    })
  }
}

const TAKEN: ReadonlySet<SourceOutcome> = new Set(['created', 'updated', 'duplicate', 'ignored'])

const NOT_PROCESSED = {
  path: '',
  code: 'internal_error',
  message: 'It could not be processed. Replay it.',
}

const notProcessed = (bytes: Uint8Array): SourceReading => ({
  outcome: 'rejected',
  errors: [NOT_PROCESSED],
  stored: storedUnread(bytes),
})
