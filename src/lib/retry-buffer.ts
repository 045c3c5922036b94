import { setTimeout as sleep } from 'node:timers/promises'

/** Senders of feedback wait 3 s for a response; most restarts of a database take less. */
const RETRY_MS = 2_000
const AGAIN_AFTER_MS = 100
const MAX_BUFFERED = 500

/** Past once the caller has a result. */
interface Deadline {
  isPast: boolean
}

interface RetryBufferOptions {
  /** How long work is retried; at least a quarter of it is left, whatever the request has used up. */
  retryMs?: number
  isTransient(error: unknown): boolean
  /** What callers get when the deadline is over, or the buffer full. */
  refusal(cause?: unknown): Error
  onBuffered?: () => void
}

/**
 * Retries work that fails for a transient reason, until its deadline. Work in progress at the deadline is not
 * cancelled: if it succeeds after all, the caller's next attempt is a repeat.
 */
export function retryBuffer({ retryMs = RETRY_MS, isTransient, refusal, onBuffered }: RetryBufferOptions) {
  /** Callers that wait for a result; `buffered` counts those whose work failed once. */
  let waiting = 0
  let buffered = 0
  let isFailing = false

  /** @param elapsedMs the part of the deadline that is already used. */
  return async function buffer<T>(elapsedMs: number, work: () => Promise<T>): Promise<T> {
    // Work that gets no reply does not fail and is never buffered, so all callers count here.
    if (isFailing && waiting >= MAX_BUFFERED) throw refusal()
    waiting++
    const deadline = { isPast: false }
    const deadlinePassed = Promise.withResolvers<never>()
    const leftMs = Math.max(retryMs - elapsedMs, retryMs / 4)
    const timer = setTimeout(() => {
      isFailing = true
      deadline.isPast = true
      deadlinePassed.reject(refusal(new Error('No result before the deadline.')))
    }, leftMs)
    try {
      return await Promise.race([firstTry(work, deadline), deadlinePassed.promise])
    } finally {
      clearTimeout(timer)
      deadline.isPast = true
      waiting--
    }
  }

  async function firstTry<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
    try {
      return await tryOnce(work)
    } catch (error) {
      if (!isTransient(error)) throw error
      if (buffered >= MAX_BUFFERED) throw refusal(error)
      buffered++
      onBuffered?.()
      return await tryAgain(work, { deadline, failure: error }).finally(() => buffered--)
    }
  }

  async function tryAgain<T>(
    work: () => Promise<T>,
    { deadline, failure }: { deadline: Deadline; failure: unknown },
  ): Promise<T> {
    for (let error = failure; ; ) {
      await sleep(AGAIN_AFTER_MS)
      if (deadline.isPast) throw refusal(error)
      try {
        return await tryOnce(work)
      } catch (again) {
        if (!isTransient(again)) throw again
        error = again
      }
    }
  }

  async function tryOnce<T>(work: () => Promise<T>): Promise<T> {
    try {
      const done = await work()
      isFailing = false
      return done
    } catch (error) {
      isFailing = isTransient(error)
      throw error
    }
  }
}

export type RetryBuffer = ReturnType<typeof retryBuffer>
