import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { deliveryUnavailable } from '../errors/index.ts'

/** Senders wait 3 s for an answer; a database that restarts is mostly back before. */
const RETRY_MS = 2_000
/** Also where a slow sender or a guard has used the time up. */
const MIN_RETRY_MS = 500
const AGAIN_AFTER_MS = 100
const MAX_BUFFERED = 500

/** Of one delivery: over once it is answered. */
interface Deadline {
  isOver: boolean
}

/**
 * Holds deliveries while the database is away and tries again until their time is over. Whatever was begun goes on
 * behind the answer: when it succeeds after all, the sender's next try is a repeat.
 */
export function retryBuffer(isDatabaseAway: (error: unknown) => boolean, onBuffered = () => {}) {
  /** All that wait for an answer; held are those among them that were refused once. */
  let inHand = 0
  let buffered = 0
  let isAway = false

  return async function hold<T>(
    reply: Pick<FastifyReply, 'elapsedTime'>,
    work: () => Promise<T>,
  ): Promise<T> {
    // A silent database refuses nothing, so then all of them count.
    if (isAway && inHand >= MAX_BUFFERED) throw deliveryUnavailable()
    inHand++
    const deadline = { isOver: false }
    const tooLate = Promise.withResolvers<never>()
    const retryMs = Math.max(RETRY_MS - reply.elapsedTime, MIN_RETRY_MS)
    const timer = setTimeout(() => {
      isAway = true
      deadline.isOver = true
      tooLate.reject(deliveryUnavailable(new Error('The database was silent.')))
    }, retryMs)
    try {
      return await Promise.race([firstTry(work, deadline), tooLate.promise])
    } finally {
      clearTimeout(timer)
      deadline.isOver = true
      inHand--
    }
  }

  async function firstTry<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
    try {
      return await tryOnce(work)
    } catch (error) {
      if (!isDatabaseAway(error)) throw error
      if (buffered >= MAX_BUFFERED) throw deliveryUnavailable(error)
      buffered++
      onBuffered()
      return await tryAgain(work, deadline, error).finally(() => buffered--)
    }
  }

  async function tryAgain<T>(work: () => Promise<T>, deadline: Deadline, failure: unknown): Promise<T> {
    for (let error = failure; ; ) {
      await sleep(AGAIN_AFTER_MS)
      if (deadline.isOver) throw deliveryUnavailable(error)
      try {
        return await tryOnce(work)
      } catch (again) {
        if (!isDatabaseAway(again)) throw again
        error = again
      }
    }
  }

  async function tryOnce<T>(work: () => Promise<T>): Promise<T> {
    try {
      const done = await work()
      isAway = false
      return done
    } catch (error) {
      isAway = isDatabaseAway(error)
      throw error
    }
  }
}

export type RetryBuffer = ReturnType<typeof retryBuffer>
