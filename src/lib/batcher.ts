import { currentWork, detached, traced } from './traced.ts'

interface BatchOptions<I> {
  /** What traces call a batch. */
  name: string
  /** Maximum of inputs in one batch. */
  maxItems: number
  /** Maximum of batches at the same time. */
  concurrency: number
  /** Maximum of bytes in one batch, except for a single larger input. */
  maxBytes: number
  bytesOf(input: I): number
  /** Whether an error is independent of the inputs: then retrying each alone is useless. */
  isForAll(error: unknown): boolean
}

interface Waiting<I, O> {
  input: I
  /** What the caller is doing. */
  cause: unknown
  resolve(output: O): void
  reject(error: unknown): void
}

/**
 * Batches concurrent calls. Inputs that arrive in one turn of the event loop, or while `concurrency` batches run, share
 * the next batch, so that a burst needs few transactions and a single input does not wait. A failed batch is retried
 * input by input.
 */
export function batcher<I, O>(work: (inputs: I[]) => Promise<O[]>, options: BatchOptions<I>) {
  const waiting: Waiting<I, O>[] = []
  let busy = 0
  let isStarting = false

  return (input: I): Promise<O> => {
    const { promise, resolve, reject } = Promise.withResolvers<O>()
    waiting.push({ input, cause: currentWork(), resolve, reject })
    startSoon()
    return promise
  }

  /** Once the requests of this turn are read: otherwise the first of them would have a batch of its own. */
  function startSoon() {
    if (isStarting || busy === options.concurrency) return
    isStarting = true
    // What callers share is done for none of them.
    detached(() =>
      setImmediate(() => {
        isStarting = false
        startBatches()
      }),
    )
  }

  function startBatches() {
    while (busy < options.concurrency && waiting.length > 0) {
      busy++
      void run(nextBatch()).finally(() => {
        busy--
        startBatches()
      })
    }
  }

  function nextBatch(): Waiting<I, O>[] {
    let weight = 0
    const end = waiting.findIndex(({ input }, index) => {
      weight += options.bytesOf(input)
      return index > 0 && (index === options.maxItems || weight > options.maxBytes)
    })
    return waiting.splice(0, end < 0 ? waiting.length : end)
  }

  async function run(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const causes = batch.map(({ cause }) => cause)
      const outputs = await traced({ name: options.name, kind: 'batch', causes }, () =>
        work(batch.map(({ input }) => input)),
      )
      for (const [index, { resolve }] of batch.entries()) resolve(outputs[index] as O)
    } catch (error) {
      if (batch.length === 1 || options.isForAll(error)) for (const { reject } of batch) reject(error)
      else for (const one of batch) await run([one])
    }
  }
}
