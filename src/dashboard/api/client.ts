import createClient from 'openapi-fetch'
import { Problem, problemFrom, unreachable } from './problem.ts'
import type { components, paths } from './schema.gen.ts'
import { readClock } from './server-clock.ts'

type Schemas = components['schemas']
export type Schema<Name extends keyof Schemas> = Schemas[Name]
/** What can be asked for in the address of an endpoint. */
export type Question<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Q } }
}
  ? NonNullable<Q>
  : never

/** The service, with every address, question and answer typed by its own description. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? '',
  async fetch(request) {
    const response = await fetch(request)
    readClock(response)
    return response
  },
})

let onSignedOut = () => {}
/** Says what happens when the session turns out to be over. */
export function whenSignedOut(work: () => void) {
  onSignedOut = work
}

/** For answers that do not come through `answerOf`. */
export const sayThatSessionEnded = () => onSignedOut()

interface Reply<T> {
  data?: T
  error?: unknown
  response: Response
}

/**
 * The body of a good answer.
 * @throws Problem for everything else, an unreachable service included.
 */
export async function dataOf<T>(call: Promise<Reply<T>>): Promise<Whole<NonNullable<T>>> {
  const { data } = await responseOf(call)
  return data as Whole<NonNullable<T>>
}

/** Only who may read tasks is shown any, and to them a write returns the whole task. */
type Whole<T> = T extends Schemas['WrittenTask']
  ? Schemas['WrittenTask'] extends T
    ? Schemas['Task']
    : T
  : T

/** The body and the response it came with. */
async function responseOf<T>(call: Promise<Reply<T>>) {
  const reply = await call.catch((error: unknown) => {
    throw error instanceof Problem || (error as Error).name === 'AbortError' ? error : unreachable()
  })
  if (reply.response.ok) return { data: reply.data as T, response: reply.response }
  const problem = problemFrom(reply.error, reply.response)
  if (problem.status === 401) onSignedOut()
  throw problem
}
