import { AppError } from '../../../src/errors/index.ts'

const UNEXPECTED = ['internal_error', 'unavailable']

/** A service whose refusals are no errors of a history: what it refuses changes nothing. */
export function refusable<T extends object>(service: T): T {
  return new Proxy(service, {
    get(target, name) {
      const method = target[name as keyof T] as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) =>
        method(...args).catch((error: unknown) => {
          if (!(error instanceof AppError) || UNEXPECTED.includes(error.code)) throw error
        })
    },
  })
}
