import type { FieldError } from '../errors/index.ts'
import type { BulkReading, SentError } from './bulk-reading.ts'
import type { PushParsing } from './codehost/delivery.ts'
import type { DeliveryReading } from './feedback/reading.ts'
import type { SourceInput, SourceReading } from './sources/reading.ts'
import type { SourceDefinition } from './sources/templates.ts'

/** The jobs of the side threads; `src/worker.ts` runs them. */
export type WorkerJobs = {
  readDelivery(bytes: Uint8Array): DeliveryReading
  readPush(bytes: Uint8Array): PushParsing
  readSourceDelivery(input: SourceInput): Promise<SourceReading>
  checkSource(definition: SourceDefinition): Promise<FieldError[]>
  readBulk(bytes: Uint8Array): Promise<BulkReading | { refusal: SentError }>
}
