import type { FastifyRequest } from 'fastify'

type Guard = (request: FastifyRequest) => Promise<void>

/** Wraps a guard so that it runs once for each request; further calls return the same result. */
export function oncePerRequest(guard: Guard): Guard {
  const outcomes = new WeakMap<FastifyRequest, Promise<void>>()
  return (request) => {
    const outcome = outcomes.get(request) ?? guard(request)
    outcomes.set(request, outcome)
    return outcome
  }
}

/**
 * onRequest: runs guards that need only headers, so that no body is read, parsed or validated for a caller they
 * reject. The error is thrown later, by the same guards in preHandler (wrapped in `oncePerRequest` if they are
 * expensive) or, if a limit has recovered by then, by `refuseBadInput`.
 */
export function checkEarly(...guards: Guard[]): Guard {
  return async function checkEarly(request) {
    try {
      for (const guard of guards) await guard(request)
    } catch (error) {
      request.earlyRefusal = error as Error
    }
  }
}
