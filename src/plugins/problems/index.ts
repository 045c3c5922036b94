import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { MAX_ERRORS } from '../../domain/validation/field-errors.ts'
import {
  AppError,
  databaseDiskFull,
  type FieldError,
  isUnavailable,
  overShare,
  routeNotFound,
  unavailable,
} from '../../errors/index.ts'
import { SAFE_HEADERS } from '../security-headers.ts'
import { PROBLEMS } from './types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The error as it is returned to callers; an unexpected one becomes `internal_error` with its cause. */
    asAppError(error: unknown): AppError | FastifyError
    /** Whether a write was refused a short while ago because the disk of the database is full. */
    isDiskFull(): boolean
  }

  interface FastifyReply {
    /** The error that was sent, for the log and the metrics. */
    problem?: { path?: string; code: string }
  }
}

interface ProblemsOptions {
  /** Distinguishes an unavailable database from a bug. */
  isDatabaseAway(error: unknown): boolean
  /** Whether an unavailable database is so because its disk is full. */
  isDiskFull(error: unknown): boolean
  /** Recognizes what waited too long for other requests of the same caller. */
  isOverShare(error: unknown): boolean
  /** Removes the values of the statement from an error: content and e-mail addresses must not be logged. */
  withoutValues(error: unknown): unknown
}

/** After a write that was refused: reads say nothing of the disk. */
const DISK_FULL_MS = 60_000

/** Sends every error as `application/problem+json`; a 5xx has no internal details, which are logged. */
export const problems = fp<ProblemsOptions>(
  async function problems(app: FastifyInstance, { isDatabaseAway, isDiskFull, isOverShare, withoutValues }) {
    let diskFullUntil = 0
    app.decorate('asAppError', asAppError)
    app.decorate('isDiskFull', () => performance.now() < diskFullUntil)
    // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
    app.setErrorHandler((error: unknown, _request, reply) => sendProblem(reply, asAppError(error)))
    app.setNotFoundHandler((request, reply) =>
      sendProblem(reply, routeNotFound(request.method, pathOf(request))),
    )

    function asAppError(error: unknown): AppError | FastifyError {
      if (error instanceof AppError) return away(error)
      if (isOverShare(error)) return overShare()
      if (isDatabaseAway(error)) return away(unavailable(withoutValues(error)))
      const { statusCode = 500 } = error as FastifyError
      // Errors of the framework (too many headers, an incorrect length) keep their status and message.
      if (statusCode >= 400 && statusCode < 500) return error as FastifyError
      return new AppError('internal_error', {
        detail: 'Something went wrong. The log has details under this request ID.',
        cause: withoutValues(error),
      })
    }

    /** The same, or the reason why the database is unavailable. */
    function away(error: AppError): AppError {
      const { cause } = error
      if (cause === undefined || !isUnavailable(error) || !isDiskFull(cause)) return error
      diskFullUntil = performance.now() + DISK_FULL_MS
      return databaseDiskFull(cause)
    }
  },
  { name: 'problems' },
)

export function sendProblem(reply: FastifyReply, error: AppError | FastifyError) {
  const { request } = reply
  const { status, body } = problemOf(error, request.id)
  // Rejected by a limit: one line without a stack, because clients can cause any number of them.
  if (isOwnRefusal(error)) request.log.warn({ reason: error.message }, 'request refused')
  else if (status >= 500) request.log.error({ err: error }, 'request failed')
  if (error instanceof AppError) {
    const { retryAfterSeconds, allow } = error.extras
    if (retryAfterSeconds) reply.header('retry-after', String(retryAfterSeconds))
    if (allow) reply.header('allow', allow.join(', '))
  }
  const { errors: [first] = [] } = body
  reply.problem = { ...(first && { path: pathToLog(first.path) }), code: body.code }
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  // Does not wait for the rest of the body.
  if (status === 408) reply.header('connection', 'close')
  // Set here, because the request may have failed before any hook ran.
  reply.headers({ ...SAFE_HEADERS, 'x-request-id': request.id })
  return reply.status(status).type('application/problem+json').serializer(JSON.stringify).send(body)
}

const isOwnRefusal = (error: AppError | FastifyError) =>
  error instanceof AppError && error.code === 'unavailable' && error.cause === undefined

function problemOf(error: AppError | FastifyError, requestId: string) {
  const known = error instanceof AppError ? PROBLEMS[error.code] : undefined
  const status = known?.[0] ?? (error as FastifyError).statusCode ?? 400
  const code = known ? error.code : 'bad_request'
  const { requiredScope, runId, retryAt, cycle, claim } = error instanceof AppError ? error.extras : {}
  return {
    status,
    body: {
      type: `/problems/${code}`,
      title: known?.[1] ?? 'Bad request',
      status,
      code,
      detail: error.message,
      requestId,
      ...(error instanceof AppError && listed(error)),
      ...(requiredScope && { requiredScope }),
      ...(runId && { runId, retryAt }),
      ...(cycle && { cycle }),
      ...(claim && { claim }),
    },
  }
}

/** The errors that a response lists, and the number of those it omits. */
function listed(error: AppError): { errors?: FieldError[]; errorsOmitted?: number } {
  const { errors, errorsOmitted = 0 } = error.extras
  if (!errors) return {}
  const listed = errors.slice(0, MAX_ERRORS)
  const omitted = errors.length - listed.length + errorsOmitted
  return { errors: listed, ...(omitted > 0 && { errorsOmitted: omitted }) }
}

/** Without names that clients make up, which could be secrets or e-mail addresses: those of ours are letters. */
function pathToLog(path: string): string {
  const [, part = '', pointer = ''] = /^(\w*[./]?)(.*)$/s.exec(path) ?? []
  const names = part.endsWith('.') ? [pointer] : pointer.split('/')
  return part + names.map((name) => (/^(|\d+|(\d+\.)?[a-z-]{1,30})$/i.test(name) ? name : '*')).join('/')
}

const pathOf = (request: FastifyRequest) => request.url.split('?')[0] ?? '/'
