import { plural } from '../lib/plural.ts'
import type { components } from './schema.gen.ts'

type Body = components['schemas']['Problem']

interface ProblemDetails extends Partial<Body> {
  /** From the header Retry-After. */
  retryAfterSeconds?: number
}

/** An error response, with a message for the user. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly body: Partial<Body>
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, { retryAfterSeconds, ...body }: ProblemDetails) {
    super(messageFrom(status, { ...body, retryAfterSeconds }))
    this.status = status
    this.code = body.code ?? 'unreachable'
    this.body = body
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** The error message of each field, by JSON Pointer. */
  get byField(): Record<string, string> {
    return Object.fromEntries((this.body.errors ?? []).map(({ path, message }) => [path, message]))
  }
}

export const unreachable = () =>
  new Problem(0, {
    code: 'unreachable',
    detail: "Couldn't reach Inlet. Your input is kept; try again when the connection is back.",
  })

export function problemFrom(body: unknown, response: Response): Problem {
  const parsedBody = typeof body === 'object' && body !== null ? (body as Partial<Body>) : {}
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined
  return new Problem(response.status, { ...parsedBody, retryAfterSeconds })
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : isChunkLoadError(error) ? chunkNotLoaded() : unexpectedError(error)

/** A failed dynamic import, which each browser words differently. */
const isChunkLoadError = (error: unknown) =>
  /dynamically imported module|module script failed|preload CSS/i.test(String(error))

const chunkNotLoaded = () =>
  new Problem(0, {
    code: 'unreachable',
    detail:
      "Couldn't load part of this page because Inlet did not respond. Your input is kept. The page reloads when Inlet responds.",
  })

const unexpectedError = (error: unknown) =>
  new Problem(0, {
    code: 'page_failed',
    detail: `Something went wrong on this page. Reload it; if that doesn't help, report this error: ${String(error).slice(0, 300)}`,
  })

/** Whether there was no response. */
export const isUnreachable = ({ code }: Problem) => code === 'unreachable'

/** Whether the same request may succeed later: the network, the session or the service failed. */
export const isTransient = ({ status }: Problem) =>
  status === 0 || status === 401 || status === 429 || status >= 500

function messageFrom(status: number, { retryAfterSeconds, ...body }: ProblemDetails): string {
  if (status === 401) return 'You are signed out. Sign in again; your input is kept.'
  if (status === 429) return `Too many requests. Try again in ${plural(retryAfterSeconds ?? 60, 'second')}.`
  if (body.requiredScope && isPlainScopeError(body)) return `You do not have the scope ${body.requiredScope}.`
  const detail = body.detail ?? body.title ?? 'Something went wrong. Try again.'
  // The detail has the first one, and the number of the others.
  const others = (body.errors ?? []).map(sentenceOf).filter((sentence) => !detail.includes(sentence))
  if (others.length === 0) return detail
  return [detail.replace(/ And \d+ more errors?\.$/, ''), ...others].join(' ')
}

/** Other errors of this code say more than the scope. */
const isPlainScopeError = ({ detail }: Partial<Body>) =>
  detail === undefined || detail.startsWith('This operation requires the scope')

/** As the service makes its detail from the first error. */
function sentenceOf({ path, message }: { path: string; message: string }): string {
  const text = /^\p{Lu}/u.test(message) ? message : `${fieldName(path)} ${message}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** `/properties/note` becomes `properties.note`; `query.label` stays as it is. */
const fieldName = (path: string) => path.replace(/^\//, '').replaceAll('/', '.') || 'The body'
