import fc from 'fast-check'
import type { ActionStep } from './steps.ts'

/** What happens to an instance at one of its requests to the code host, or of its statements. */
export type Interruption = { nth: number } & (
  | { at: 'request'; how: (typeof AT_REQUESTS)[number] }
  | { at: 'request'; how: 'refused' /** Which of the refusals that it can get. */; choice: number }
  | { at: 'statement'; how: (typeof AT_STATEMENTS)[number] }
  | { at: 'request before'; how: 'overlapped'; by: ActionStep }
  | {
      at: 'request after' | 'statement'
      how: 'overlapped'
      by: ActionStep
      /** That pass before: leases may end. */
      minutes: number
    }
)

/** Killed: nothing that the instance has in memory counts any more. Late: it has its effect within the lease. */
export const AT_REQUESTS = [
  'killed before',
  'killed after',
  'killed, arrives late',
  'fails',
  'response lost',
  'arrives late',
  'limited',
] as const

const AT_STATEMENTS = ['killed before', 'killed after'] as const

export const interruptions = (
  { requests, statements }: { requests: number; statements: number },
  by: fc.Arbitrary<ActionStep>,
): fc.Arbitrary<Interruption> => {
  // The second request of a write is mostly the one with an effect.
  const request = fc.oneof({ weight: 1, arbitrary: fc.nat(requests) }, fc.constant(Math.min(1, requests)))
  const statement = fc.nat(statements)
  return fc.oneof(
    fc.record({ at: fc.constant('request' as const), nth: request, how: fc.constantFrom(...AT_REQUESTS) }),
    fc.record({
      at: fc.constant('statement' as const),
      nth: statement,
      how: fc.constantFrom(...AT_STATEMENTS),
    }),
    fc.record({
      at: fc.constant('request' as const),
      nth: request,
      how: fc.constant('refused' as const),
      choice: fc.nat(3),
    }),
    fc.record({
      at: fc.constant('request before' as const),
      nth: request,
      how: fc.constant('overlapped' as const),
      by,
    }),
    fc.record({
      at: fc.constant('request after' as const),
      nth: request,
      how: fc.constant('overlapped' as const),
      by,
      minutes,
    }),
    fc.record({
      at: fc.constant('statement' as const),
      nth: statement,
      how: fc.constant('overlapped' as const),
      by,
      minutes,
    }),
  )
}

/** Mostly none; three are longer than a lease. */
const minutes = fc.constantFrom(0, 0, 0, 3)
