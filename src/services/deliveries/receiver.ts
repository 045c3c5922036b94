import type { IncomingHttpHeaders } from 'node:http'
import { type FieldError, isUnavailable, notJson, validationFailed } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { SourceIgnored, SourcePending, SourceReceipt } from '../../schemas/source-delivery.ts'
import type { SourceOutcome } from '../recorder.ts'
import { retryDecision } from '../retry-decision.ts'

const MIB = 1024 * 1024

/** A request whose sender is known. */
export interface SentDelivery {
  bytes: Buffer
  headers: IncomingHttpHeaders
}

/** A delivery with its time and ids: it can be stored again after an error. */
export interface ReadDelivery {
  /** Undefined if it is read later. */
  reading:
    | { outcome: 'accepted' }
    | { outcome: 'ignored' }
    | { outcome: 'filtered' }
    | { outcome: 'rejected'; errors: FieldError[] }
    | { outcome: 'unreadable'; readUpTo: number }
    | undefined
  /** Its share of a batch's limit, in bytes. */
  size: number
}

/** A delivery that makes tasks. */
export type Taken<D extends ReadDelivery> = D & { reading: { outcome: 'accepted' } }

/** A delivery that makes no task. */
export type Untaken<D extends ReadDelivery> = D & {
  reading: { outcome: 'ignored' | 'filtered' | 'rejected' | 'unreadable' }
}

/** The response to a delivery that is stored. */
export type StoredReceipt = SourceReceipt | SourceIgnored | SourcePending

/** What receivers differ in: how a payload becomes tasks. The target is what the request is for. */
export interface Interpreter<Target, D extends ReadDelivery> {
  /** What traces call a batch. */
  name: string
  /** Maximum of deliveries in one batch. */
  maxItems: number
  /** Reads a payload, and assigns time and ids. */
  read(target: Target, sent: SentDelivery): Promise<D>
  /** Stores deliveries with their tasks; returns undefined for those that have to wait after all. */
  store(deliveries: Taken<D>[]): Promise<(StoredReceipt | undefined)[]>
  storeUntaken(delivery: Untaken<D>): Promise<void>
  /** Stores a delivery that is read later. */
  storePending(delivery: D): Promise<StoredReceipt>
}

/** The receiver of all deliveries that make tasks at once: stores each exactly once, with its tasks, in batches. */
export function deliveryReceiver<Target, D extends ReadDelivery>(interpreter: Interpreter<Target, D>) {
  const { name, maxItems, read, storeUntaken, storePending } = interpreter
  const store = batcher(
    (deliveries: Taken<D>[]) => redacted(() => retryDecision(() => interpreter.store(deliveries))),
    {
      name,
      maxItems,
      // PostgreSQL works on one while this process prepares the next. Three would only make batches smaller (same p99 at 500
      // events a second); one could be blocked by a lock.
      concurrency: 2,
      // Building the statement of a batch blocks the event loop.
      maxBytes: 2 * MIB,
      bytesOf: ({ size }) => size,
      isForAll: isUnavailable,
    },
  )

  /** Reads a delivery. Returns what stores it, which can be repeated. */
  return async function receive(target: Target, sent: SentDelivery) {
    const delivery = await read(target, sent)
    return () => stored(delivery)
  }

  /**
   * Returns after the commit.
   * @throws invalid_json, validation_failed, rate_limited if too many are pending, invalid_credentials if the source was
   * deleted meanwhile; unavailable: then retry
   */
  async function stored(delivery: D): Promise<StoredReceipt> {
    // Without a receipt, an earlier one became pending meanwhile.
    if (isTaken(delivery)) return (await store(delivery)) ?? storePending(delivery)
    if (!isUntaken(delivery)) return storePending(delivery)
    await storeUntaken(delivery)
    const reading: Untaken<ReadDelivery>['reading'] = delivery.reading
    if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
    if (reading.outcome === 'rejected') throw validationFailed(reading.errors)
    return { accepted: false, reason: reading.outcome === 'ignored' ? 'event_ignored' : 'filtered' }
  }
}

const isTaken = <D extends ReadDelivery>(delivery: D): delivery is Taken<D> =>
  delivery.reading?.outcome === 'accepted'

const isUntaken = <D extends ReadDelivery>(delivery: D): delivery is Untaken<D> =>
  delivery.reading !== undefined && !isTaken(delivery)

/** As metrics count it. */
export function outcomeOf(receipt: StoredReceipt): SourceOutcome {
  if (!receipt.accepted) return 'ignored'
  if (receipt.duplicate) return 'duplicate'
  if (!('tasks' in receipt)) return receipt.outcome
  return receipt.tasks.some(({ created }) => created) ? 'created' : 'updated'
}
