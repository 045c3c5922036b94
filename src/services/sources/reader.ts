import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { failedReading } from '../../domain/sources/stored-payload.ts'
import type { TemplateJobs } from '../../domain/sources/template-jobs.ts'
import type { SourceDefinition } from '../../domain/sources/templates.ts'
import { type FieldError, templatesNotRun, tooManyLargeBodies } from '../../errors/index.ts'
import { sideThread } from '../../lib/side-thread.ts'
import { type TimeShares, timeShares } from '../../lib/time-shares.ts'
import { isOver, type Over, type TurnRequest, turns } from '../../lib/turns.ts'

export type PayloadReader = ReturnType<typeof payloadReader>

const MIB = 1024 * 1024
/** Each source may render for one second in ten. */
const SHARE = { shareMs: 1_000, windowMs: 10_000 }
/** Almost all deliveries take less than a millisecond. Those that take longer go on where they delay no others. */
const QUICK_MS = 100
/** For all templates of a delivery. */
const RENDER_MS = 1_000
/**
 * A filter cannot look at the time: its thread is ended so much later. Parsing the payload takes a part of this, which is
 * large for 1 MiB of values on a busy machine.
 */
const GRACE = { quickMs: 500, slowMs: 4_000 }
/** A source that was slow counts as slow for so long. */
const SLOW_FOR_MS = 60_000

interface ReaderOptions {
  startDeadlineMs?: number
  file?: URL
  shares?: TimeShares | undefined
}

interface Input {
  definition: SourceDefinition
  bytes: Uint8Array
}

/**
 * Renders templates in threads of their own: one that loops or fills its memory ends its thread. Sources take turns, and
 * those that are slow have another thread, so that they only delay each other.
 */
export function payloadReader({
  startDeadlineMs = 30_000,
  file = new URL('../../template-worker.ts', import.meta.url),
  shares = timeShares(SHARE),
}: ReaderOptions = {}) {
  const quick = renderer({ renderMs: QUICK_MS, graceMs: GRACE.quickMs })
  const slow = renderer({ renderMs: RENDER_MS, graceMs: GRACE.slowMs })
  const slowOwners = new LRUCache<string, true>({ max: 1_000, ttl: SLOW_FOR_MS })

  return {
    /**
     * Waits for a turn, however long the source has rendered lately.
     * @param sourceId undefined for a test of templates
     * @throws unavailable if too much waits, or the thread did not start
     */
    async read(input: Input, sourceId?: string): Promise<SourceReading> {
      const owner = sourceId ?? testOf(input.definition)
      const reading = await readInTurn(input, { owner, bytes: input.bytes.length, mustRun: true })
      if (isOver(reading)) throw tooManyLargeBodies()
      return reading
    },

    /**
     * Does not read it if the source has used up its share, or has too much waiting.
     * @throws unavailable as above
     */
    readInShare: (input: Input, sourceId: string): Promise<SourceReading | Over> =>
      readInTurn(input, { owner: sourceId, bytes: input.bytes.length, mustRun: false }),

    /**
     * The errors of templates that do not parse.
     * @throws unavailable if the thread did not start, or ended
     */
    check: (definition: SourceDefinition): Promise<FieldError[]> =>
      withoutTemplates(quick.thread.run('checkSource', definition)),

    close: () => Promise.all([quick.thread.close(), slow.thread.close()]),
  }

  async function readInTurn(input: Input, request: TurnRequest): Promise<SourceReading | Over> {
    if (!slowOwners.has(request.owner)) {
      const reading = await quick.read(input, request)
      if (isOver(reading) || !isTooSlow(reading)) return reading
      slowOwners.set(request.owner, true)
    }
    return slow.read(input, request)
  }

  /** A thread, and who has it next. */
  function renderer({ renderMs, graceMs }: { renderMs: number; graceMs: number }) {
    const deadlineMs = renderMs + graceMs
    const thread = sideThread<TemplateJobs>({
      file,
      maxHeapMb: 192,
      deadlineMs,
      startDeadlineMs,
      failureOf: (cause, isOfJob) => (isOfJob ? new TemplatesFailed(cause) : templatesNotRun(cause)),
    })
    const take = turns({
      shares,
      maxWaitingBytes: 32 * MIB,
      maxOwnerBytes: 4 * MIB,
      refusal: tooManyLargeBodies,
    })
    const read = (input: Input, request: TurnRequest) =>
      take(request, async () => {
        const start = performance.now()
        try {
          const { reading, tookMs } = await thread.run('readSourceDelivery', { ...input, renderMs })
          shares.record(request.owner, tookMs)
          return reading
        } catch (error) {
          if (!(error instanceof TemplatesFailed)) throw error
          shares.record(request.owner, Math.min(performance.now() - start, deadlineMs))
          return failedReading(input.bytes, error.message)
        }
      })
    return { thread, read }
  }
}

/** So that one test delays no other. */
const testOf = (definition: SourceDefinition) => `test ${hash('sha256', JSON.stringify(definition))}`

const isTooSlow = (reading: SourceReading) => reading.outcome === 'rejected' && reading.isTooSlow === true

/** Parsing takes microseconds, so the templates are not what ended the thread. */
async function withoutTemplates<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw error instanceof TemplatesFailed ? templatesNotRun(error) : error
  })
}

class TemplatesFailed extends Error {
  constructor(cause: Error) {
    super('The templates took too long, or too much memory.', { cause })
  }
}
