import type { FieldError } from '../../errors/index.ts'
import type { SourceInput, SourceReading } from './reading.ts'
import type { SourceDefinition } from './templates.ts'

/** The jobs of the threads for templates; `src/template-worker.ts` runs them. */
export type TemplateJobs = {
  readSourceDelivery(input: SourceInput): { reading: SourceReading; tookMs: number }
  checkSource(definition: SourceDefinition): FieldError[]
}
