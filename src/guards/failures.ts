import { AppError, rateLimited } from '../errors/index.ts'
import { minuteLimit } from './rate-limit.ts'

/**
 * Slows down who guesses. Only wrong credentials count, and past the limit only further wrong ones are told to wait:
 * whoever has a valid one is always let in, also from behind the same address.
 */
export function failureLimit(perMinute: number) {
  const limit = minuteLimit(perMinute)
  return {
    /** Runs the check of a credential that came from this address. */
    async watch<T>(address: string, check: () => Promise<T>): Promise<T> {
      try {
        return await check()
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'invalid_credentials') throw error
        const allowance = limit.take(address)
        throw allowance?.isExceeded ? rateLimited(allowance.resetSeconds) : error
      }
    },
  }
}

export type FailureLimit = ReturnType<typeof failureLimit>
