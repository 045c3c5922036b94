import { AppError, type FieldError } from './app-error.ts'

export const validationFailed = (errors: FieldError[], errorsOmitted = 0) =>
  new AppError('validation_failed', { detail: detailOf(errors, errorsOmitted), errors, errorsOmitted })

/** The sentence of the first error, and how many more there are. */
export function detailOf(errors: FieldError[], errorsOmitted = 0): string {
  const others = errors.length - 1 + errorsOmitted
  const more = others === 1 ? ' And 1 more error.' : ` And ${others} more errors.`
  return `${errors[0] ? sentenceOf(errors[0]) : 'The request is invalid.'}${others > 0 ? more : ''}`
}

/** Most messages go on after the name of what they are about. */
function sentenceOf({ path, message }: FieldError): string {
  const name = path.replace(/^\//, '').replaceAll('/', '.') || 'The body'
  const text = /^\p{Lu}/u.test(message) ? message : `${name} ${message}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

export const invalidJson = (reason: string) =>
  new AppError('invalid_json', { detail: `Invalid JSON: ${reason}` })

/** The payload of a feedback sender is not quoted: it may hold an e-mail address. */
export const notJson = (readUpTo: number) =>
  new AppError('invalid_json', { detail: `Invalid JSON at position ${readUpTo}.` })

export const invalidCursor = () =>
  new AppError('invalid_cursor', {
    detail:
      'The cursor does not belong to this list and sort. Start without a cursor, or send nextCursor unchanged.',
    errors: [
      { path: 'query.cursor', code: 'invalid_cursor', message: 'does not belong to this list and sort' },
    ],
  })

export const invalidChangeCursor = () =>
  new AppError('invalid_cursor', {
    detail:
      'The cursor is not valid, or was issued before the database was restored or replaced by an import. Read everything again: start with from=start, or without a cursor for what comes from now on.',
    errors: [{ path: 'query.cursor', code: 'invalid_cursor', message: 'is not a cursor of this database' }],
  })

export const routeNotFound = (method: string, path: string) =>
  new AppError('not_found', {
    detail: `${method} ${path.slice(0, 100)} not found. GET /openapi.json lists all routes.`,
  })

export const unreadableAddress = () =>
  validationFailed([
    {
      path: 'path',
      code: 'wrong_format',
      message: 'must be UTF-8 with every percent sign followed by two hexadecimal digits',
    },
  ])

export const problemNotFound = (code: string) =>
  new AppError('not_found', { detail: `Problem type ${code} not found.` })

export const methodNotAllowed = (method: string, allow: string[]) =>
  new AppError('method_not_allowed', {
    detail: `${method} is not supported here; use ${allow.join(', ')}.`,
    allow,
  })

/** @param advice what the client can do. */
export const bodyTooLarge = (limitBytes: number, advice = 'Send less in one request.') =>
  new AppError('body_too_large', {
    detail: `The body is larger than the limit of ${limitBytes} bytes. ${advice}`,
  })

/** The client has disconnected, so no work is started for it. */
export const connectionClosed = () =>
  new AppError('request_timeout', { detail: 'The connection was closed before the request was handled.' })

export const bodyStalled = () =>
  new AppError('request_timeout', { detail: 'The body stopped arriving. Send the request again.' })

export const tooManyBodies = () =>
  new AppError('unavailable', {
    detail: 'Too many request bodies are being received. Send the request again.',
    retryAfterSeconds: 1,
  })

export const tooManyLargeBodies = () =>
  new AppError('unavailable', {
    detail: 'Too many large requests are being processed. Send the request again.',
    retryAfterSeconds: 5,
  })

export const tooManyResponses = () =>
  new AppError('unavailable', {
    detail: 'Too many large responses are being sent. Send the request again.',
    retryAfterSeconds: 1,
  })

export const unsupportedMediaType = (contentType: string | undefined, supported = 'application/json') =>
  new AppError('unsupported_media_type', {
    detail: contentType
      ? `Content-Type ${contentType.slice(0, 100)} is not supported; use ${supported}.`
      : `Content-Type is missing; use ${supported}.`,
  })

export const unsupportedEncoding = (encoding: string) =>
  new AppError('unsupported_media_type', {
    detail: `Content-Encoding ${encoding.slice(0, 100)} is not supported; send the body without one.`,
  })

export const severalHosts = () =>
  validationFailed([{ path: 'header.host', code: 'too_many', message: 'must be sent once' }])

export const requestInProgress = () =>
  new AppError('request_in_progress', {
    detail: 'Another request with this Idempotency-Key is still being processed. Send this one again later.',
  })

export const idempotencyKeyReused = () =>
  new AppError('idempotency_key_reused', {
    detail: 'This Idempotency-Key was used for another request in the last 24 hours. Use a new one.',
  })

export const idempotencyNotSupported = () =>
  new AppError('idempotency_not_supported', {
    detail: 'The response of this route contains a secret and is never stored. Omit Idempotency-Key.',
    errors: [{ path: 'header.idempotency-key', code: 'not_supported', message: 'is not supported here' }],
  })

/** @param cause why the request would be refused anyway */
export const rateLimited = (retryAfterSeconds: number, cause?: AppError) =>
  new AppError('rate_limited', {
    detail: `Too many requests. Retry after ${retryAfterSeconds} s.`,
    retryAfterSeconds,
    cause,
  })

export const tooManyInFlight = (limit: number, isLong = false) =>
  new AppError('rate_limited', {
    detail: isLong
      ? `Too many streams and long polls are open. At most ${limit} are allowed for each key.`
      : `Too many requests at the same time. At most ${limit} are allowed.`,
    retryAfterSeconds: isLong ? 5 : 1,
  })

/** Other requests of the same caller took its share of the connections to the database for too long. */
export const overShare = () =>
  new AppError('rate_limited', {
    detail: 'Your other requests kept this one waiting for too long. Send fewer at the same time.',
    retryAfterSeconds: 1,
  })

export const tooManyLongPolls = (limit: number) =>
  new AppError('rate_limited', {
    detail: `Too many long polls are open on this instance. At most ${limit} are allowed. Send the request without wait, or later.`,
    retryAfterSeconds: 5,
  })

export const versionMismatch = (current: number, what = 'task') =>
  new AppError('version_mismatch', {
    detail: `The ${what} has changed since you read it: its version is now ${current}. Read it again before you change it.`,
  })

export const unavailable = (cause?: unknown) =>
  new AppError('unavailable', {
    detail: 'The database is unavailable. Try again; with an externalId a retry creates no second task.',
    retryAfterSeconds: 2,
    cause,
  })

/** After an upgrade or an import. */
export const overviewNotCounted = () =>
  new AppError('unavailable', {
    detail: 'The tasks are being counted for the overview. Try again in a few seconds.',
    retryAfterSeconds: 5,
  })

/**
 * Ends a transaction that holds locks it should have taken after others. Its work begins again from its start, and fails
 * with this only if that happens time after time.
 */
export const lockConflict = (reason: string) =>
  unavailable(Object.assign(new Error(reason), { code: '40001' }))

/** Seen by one request, the same for all that write. */
export const databaseDiskFull = (cause?: unknown) =>
  new AppError('unavailable', {
    detail:
      'The disk of the database is full. Try again once there is space; with an externalId a retry creates no second task.',
    retryAfterSeconds: 2,
    cause,
  })

/** @param urls the variables whose database does not respond, of several. */
export const databaseUnavailable = (urls: string[], cause: unknown) =>
  new AppError('unavailable', {
    detail: `The database in ${urls.join(' and ')} is unavailable.`,
    retryAfterSeconds: 2,
    cause,
  })

/** True for errors that affect every request at the time: retrying each one alone is useless. */
export const isUnavailable = (error: unknown) =>
  error instanceof AppError && error.code === 'unavailable' && !isConflict(error)

class Conflict extends AppError {}

/** Others changed what a request was decided on before it was locked. Concerns this request only. */
export const conflict = (cause?: unknown) =>
  new Conflict('unavailable', {
    detail: 'Other requests keep changing what this one depends on. Send it again.',
    retryAfterSeconds: 1,
    cause,
  })

export const isConflict = (error: unknown) => error instanceof Conflict

export const backlogFull = () =>
  new AppError('rate_limited', {
    detail:
      'Too many deliveries of this source wait for their turn, because its templates take long. Send the delivery again later.',
    retryAfterSeconds: 10,
  })

/** The thread that renders templates did not start, or ended. */
export const templatesNotRun = (cause: Error) =>
  new AppError('unavailable', {
    detail: 'The templates could not be run. Send the request again.',
    retryAfterSeconds: 1,
    cause,
  })

export const deliveryUnavailable = (cause?: unknown) =>
  new AppError('unavailable', {
    detail: 'The database is unavailable. Send the event again; a repeat creates no second task.',
    retryAfterSeconds: 2,
    cause,
  })

export const shuttingDown = () =>
  new AppError('unavailable', {
    detail: 'This instance is shutting down. Send the request again.',
    retryAfterSeconds: 2,
  })
