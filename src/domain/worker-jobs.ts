import type { PushParsing } from './codehost/delivery.ts'
import type { DeliveryReading } from './feedback/reading.ts'

/** The jobs of the side thread; `src/worker.ts` runs them. */
export type WorkerJobs = {
  readDelivery(bytes: Uint8Array): DeliveryReading
  readPush(bytes: Uint8Array): PushParsing
}
