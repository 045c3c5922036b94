import type { SourceReading } from '../../domain/sources/reading.ts'
import { failedReading } from '../../domain/sources/stored-payload.ts'
import type { SourceDefinition } from '../../domain/sources/templates.ts'
import type { WorkerJobs } from '../../domain/worker-jobs.ts'
import { type FieldError, tooManyLargeBodies } from '../../errors/index.ts'
import { sideThread } from '../../lib/side-thread.ts'

export type PayloadReader = ReturnType<typeof payloadReader>

const MIB = 1024 * 1024

/**
 * Renders templates in a thread of their own: one that loops or fills its memory ends that thread, and neither blocks
 * the event loop nor other bodies.
 */
export function payloadReader({ deadlineMs = 5_000 } = {}) {
  const thread = sideThread<WorkerJobs>({
    file: new URL('../../worker.ts', import.meta.url),
    maxHeapMb: 192,
    maxWaitingBytes: 32 * MIB,
    refusalWhenFull: tooManyLargeBodies,
    deadlineMs,
    failureOf: (cause) => new ThreadLost(cause),
  })

  return {
    /** @throws unavailable if too many deliveries wait. */
    async read(definition: SourceDefinition, bytes: Uint8Array): Promise<SourceReading> {
      try {
        return await thread.run('readSourceDelivery', { input: { definition, bytes } })
      } catch (error) {
        if (!(error instanceof ThreadLost)) throw error
        return failedReading(bytes, error.message)
      }
    },

    /** The errors of templates that do not parse. */
    async check(definition: SourceDefinition): Promise<FieldError[]> {
      return thread.run('checkSource', { input: definition })
    },

    close: () => thread.close(),
  }
}

class ThreadLost extends Error {
  constructor(cause: Error) {
    super('The templates took too long, or too much memory.', { cause })
  }
}
