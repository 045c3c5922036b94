import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { deliveryUnavailable } from '../errors.ts'

/** Senders wait 3 s for an answer; a database that restarts is mostly back before. */
const HOLD_MS = 2_000
/** Also where a slow sender or a guard has used the time up. */
const SHORTEST_HOLD_MS = 500
const AGAIN_AFTER_MS = 100
const MOST_HELD = 500

/** Of one delivery: over once it is answered. */
interface Patience {
  isOver: boolean
}

/**
 * Holds deliveries while the database is away and tries again until their time is over. Whatever was begun goes on
 * behind the answer: when it succeeds after all, the sender's next try is a repeat.
 */
export function holding(isDatabaseAway: (error: unknown) => boolean, onHeld = () => {}) {
  /** All that wait for an answer; held are those among them that were refused once. */
  let inHand = 0
  let held = 0
  let isAway = false

  return async function hold<T>(
    reply: Pick<FastifyReply, 'elapsedTime'>,
    work: () => Promise<T>,
  ): Promise<T> {
    // A silent database refuses nothing, so then all of them count.
    if (isAway && inHand >= MOST_HELD) throw deliveryUnavailable()
    inHand++
    const patience = { isOver: false }
    const tooLate = Promise.withResolvers<never>()
    const holdMs = Math.max(HOLD_MS - reply.elapsedTime, SHORTEST_HOLD_MS)
    const timer = setTimeout(() => {
      isAway = true
      patience.isOver = true
      tooLate.reject(deliveryUnavailable(new Error('The database was silent.')))
    }, holdMs)
    try {
      return await Promise.race([firstTry(work, patience), tooLate.promise])
    } finally {
      clearTimeout(timer)
      patience.isOver = true
      inHand--
    }
  }

  async function firstTry<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
    try {
      return await tryOnce(work)
    } catch (error) {
      if (!isDatabaseAway(error)) throw error
      if (held >= MOST_HELD) throw deliveryUnavailable(error)
      held++
      onHeld()
      return await tryAgain(work, patience, error).finally(() => held--)
    }
  }

  async function tryAgain<T>(work: () => Promise<T>, patience: Patience, failure: unknown): Promise<T> {
    for (let error = failure; ; ) {
      await sleep(AGAIN_AFTER_MS)
      if (patience.isOver) throw deliveryUnavailable(error)
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

export type Hold = ReturnType<typeof holding>
