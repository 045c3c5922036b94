import type { FastifyRequest } from 'fastify'

type Guard = (request: FastifyRequest) => Promise<void>

/** The same guard, which looks once at each request however often it is asked, and says the same each time. */
export function onceARequest(guard: Guard): Guard {
  const outcomes = new WeakMap<FastifyRequest, Promise<void>>()
  return (request) => {
    const outcome = outcomes.get(request) ?? guard(request)
    outcomes.set(request, outcome)
    return outcome
  }
}

/**
 * onRequest: asks guards that decide by headers alone, so that whoever they refuse cannot make us read, parse or check
 * a body. Nobody is refused here: the same guards stand in preHandler, behind `onceARequest` where a look costs, and
 * where a limit lets in by then who was over it, `refuseBadInput` says what was said here.
 */
export function lookEarly(...guards: Guard[]): Guard {
  return async function lookEarly(request) {
    try {
      for (const guard of guards) await guard(request)
    } catch (error) {
      request.earlyRefusal = error as Error
    }
  }
}
