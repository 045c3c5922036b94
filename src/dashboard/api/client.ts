import createClient from 'openapi-fetch'
import { Problem, problemFrom, unreachable } from './problem.ts'
import type { components, paths } from './schema.gen.ts'
import { updateClock } from './server-clock.ts'

type Schemas = components['schemas']
export type Schema<Name extends keyof Schemas> = Schemas[Name]
/** The query parameters of a GET endpoint. */
export type QueryParams<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Q } }
}
  ? NonNullable<Q>
  : never

/** The API client, typed by the service's OpenAPI document. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? '',
  async fetch(request) {
    const response = await fetch(request)
    updateClock(response)
    return response
  },
})

let onSignedOut = () => {}
/** The handler runs when a response says that the session has ended. */
export function setSignedOutHandler(handler: () => void) {
  onSignedOut = handler
}

/** For requests that do not go through `dataOf`, such as the stream. */
export const notifySignedOut = () => onSignedOut()

interface FetchResult<T> {
  data?: T
  error?: unknown
  response: Response
}

/**
 * The body of a successful response.
 * @throws Problem for any other response, and when the service is unreachable.
 */
export async function dataOf<T>(request: Promise<FetchResult<T>>): Promise<WithFullTask<NonNullable<T>>> {
  const { data } = await responseOf(request)
  return data as WithFullTask<NonNullable<T>>
}

/** The dashboard shows tasks only to keys with `tasks:read`, and to those a write returns the full task. */
type WithFullTask<T> = T extends Schemas['WrittenTask']
  ? Schemas['WrittenTask'] extends T
    ? Schemas['Task']
    : T
  : T

/**
 * A successful response with its body.
 * @throws Problem for any other response, and when the service is unreachable.
 */
export async function responseOf<T>(request: Promise<FetchResult<T>>, { isSignIn = false } = {}) {
  const result = await request.catch((error: unknown) => {
    throw error instanceof Problem || (error as Error).name === 'AbortError' ? error : unreachable()
  })
  if (result.response.ok) return { data: result.data as T, response: result.response }
  const problem = problemFrom(result.error, result.response)
  // Wrong credentials end no session.
  if (problem.status === 401 && !isSignIn) onSignedOut()
  throw problem
}
