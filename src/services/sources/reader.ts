import type { SourceReading } from '../../domain/sources/reading.ts'
import { failedReading } from '../../domain/sources/stored-payload.ts'
import type { SourceDefinition } from '../../domain/sources/templates.ts'
import type { WorkerJobs } from '../../domain/worker-jobs.ts'
import { type FieldError, templatesNotRun, tooManyLargeBodies } from '../../errors/index.ts'
import { sideThread } from '../../lib/side-thread.ts'

export type PayloadReader = ReturnType<typeof payloadReader>

const MIB = 1024 * 1024

/**
 * Renders templates in a thread of their own: one that loops or fills its memory ends that thread, and neither blocks
 * the event loop nor other bodies.
 */
export function payloadReader({
  deadlineMs = 5_000,
  startDeadlineMs = 30_000,
  file = new URL('../../worker.ts', import.meta.url),
} = {}) {
  const thread = sideThread<WorkerJobs>({
    file,
    maxHeapMb: 192,
    maxWaitingBytes: 32 * MIB,
    refusalWhenFull: tooManyLargeBodies,
    deadlineMs,
    startDeadlineMs,
    failureOf: (cause, isOfJob) => (isOfJob ? new TemplatesFailed(cause) : templatesNotRun(cause)),
  })

  return {
    /** @throws unavailable if too many deliveries wait, or the thread did not start. */
    async read(definition: SourceDefinition, bytes: Uint8Array): Promise<SourceReading> {
      try {
        return await thread.run('readSourceDelivery', { input: { definition, bytes } })
      } catch (error) {
        if (!(error instanceof TemplatesFailed)) throw error
        return failedReading(bytes, error.message)
      }
    },

    /**
     * The errors of templates that do not parse.
     * @throws unavailable if the thread did not start, or ended
     */
    async check(definition: SourceDefinition): Promise<FieldError[]> {
      try {
        return await thread.run('checkSource', { input: definition })
      } catch (error) {
        // Parsing takes microseconds, so the templates are not what ended it.
        throw error instanceof TemplatesFailed ? templatesNotRun(error) : error
      }
    },

    close: () => thread.close(),
  }
}

class TemplatesFailed extends Error {
  constructor(cause: Error) {
    super('The templates took too long, or too much memory.', { cause })
  }
}
