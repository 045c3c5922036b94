import { AppError, rateLimited } from '../errors/index.ts'
import { minuteLimit } from '../lib/minute-limit.ts'

/**
 * Slows down guessing of credentials. Only invalid ones count and are refused beyond the limit: valid credentials are
 * accepted, also from the same address.
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
        throw allowance?.isExceeded ? rateLimited(allowance.resetSeconds, error) : error
      }
    },
  }
}

export type FailureLimit = ReturnType<typeof failureLimit>
