/**
 * Every mistake Inlet can speak of, by name. Clients branch on the code; `plugins/problems.ts` says what each
 * looks like over HTTP. Nothing here knows HTTP.
 */
export type ErrorCode =
  | 'validation_failed'
  | 'bad_request'
  | 'invalid_json'
  | 'invalid_cursor'
  | 'idempotency_not_supported'
  | 'missing_credentials'
  | 'invalid_credentials'
  | 'expired_credentials'
  | 'insufficient_scope'
  | 'origin_not_allowed'
  | 'description_read_only'
  | 'managed_by_codehost'
  | 'codehost_url_not_allowed'
  | 'not_found'
  | 'task_not_found'
  | 'activity_not_found'
  | 'key_not_found'
  | 'session_not_found'
  | 'webhook_secret_not_found'
  | 'list_not_found'
  | 'event_not_found'
  | 'routing_rule_not_found'
  | 'project_not_found'
  | 'rule_not_found'
  | 'rule_version_not_found'
  | 'connection_not_found'
  | 'sync_run_not_found'
  | 'method_not_allowed'
  | 'project_archived'
  | 'project_not_empty'
  | 'project_is_default'
  | 'list_not_empty'
  | 'list_is_default'
  | 'external_id_taken'
  | 'event_not_replayable'
  | 'repository_not_connected'
  | 'sync_in_progress'
  | 'request_in_progress'
  | 'too_many_secrets'
  | 'too_many_rules'
  | 'version_mismatch'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'codehost_token_rejected'
  | 'codehost_repository_not_found'
  | 'codehost_access_denied'
  | 'encryption_key_missing'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable'
  | 'codehost_unreachable'

/** One thing wrong with the input. `path` is a JSON Pointer into the body, or `query.x`, `path.x`, `header.x`. */
export interface Mistake {
  path: string
  code: string
  message: string
}

/** What a problem document carries beside code and detail, by name. */
export interface Extras {
  errors?: Mistake[]
  /** How many mistakes there were beside those in `errors`. */
  errorsOmitted?: number
  requiredScope?: string
  allow?: string[]
  retryAfterSeconds?: number
  /** The run that is in the way, and when it goes on if it waits. */
  runId?: string
  retryAt?: string | null
}

export class AppError extends Error {
  readonly code: ErrorCode
  readonly extras: Extras

  constructor(code: ErrorCode, detail: string, extras: Extras = {}, options?: ErrorOptions) {
    super(detail, options)
    this.name = 'AppError'
    this.code = code
    this.extras = extras
  }
}

export const validationFailed = (errors: Mistake[], errorsOmitted = 0) =>
  new AppError(
    'validation_failed',
    errors.length === 1 ? 'One value is not valid; see errors.' : 'Some values are not valid; see errors.',
    { errors, errorsOmitted },
  )

export const invalidJson = (why: string) => new AppError('invalid_json', `The body is not valid JSON: ${why}`)

/** What a sender of feedback wrote is not repeated: there may be an address in it. */
export const notJson = (readUpTo: number) => invalidJson(`it ends being JSON at character ${readUpTo}.`)

export const invalidCursor = () =>
  new AppError(
    'invalid_cursor',
    'This cursor does not belong to this list and sort. Start again without a cursor, or pass nextCursor on unchanged.',
    {
      errors: [
        { path: 'query.cursor', code: 'invalid_cursor', message: 'is not a cursor of this list and sort' },
      ],
    },
  )

export const missingCredentials = () =>
  new AppError('missing_credentials', 'Send an API key in the header X-API-Key.')

export const invalidCredentials = () =>
  new AppError('invalid_credentials', 'This API key is not known here, or it was revoked.')

export const expiredCredentials = () =>
  new AppError('expired_credentials', 'This API key has expired. Ask an administrator for a new one.')

export const missingWebhookSecret = () =>
  new AppError('missing_credentials', 'Send the webhook secret in the header Authorization: Bearer <secret>.')

export const invalidWebhookSecret = () =>
  new AppError('invalid_credentials', 'This webhook secret is not known here, or it was revoked.')

export const sessionEnded = () =>
  new AppError('invalid_credentials', 'This session has ended. Sign in again.')

export const originNotAllowed = () =>
  new AppError('origin_not_allowed', 'A request with a session must come from the dashboard’s own address.')

export const insufficientScope = (requiredScope: string) =>
  new AppError('insufficient_scope', `This key lacks the scope ${requiredScope}.`, { requiredScope })

export const descriptionReadOnly = (source: string) =>
  new AppError(
    'description_read_only',
    `The description of a task with source ${source} cannot be changed here: it belongs to where the task came from. Write into notes instead.`,
  )

export const managedByCodehost = (fields: string[]) =>
  new AppError(
    'managed_by_codehost',
    `${fields.join(', ')} of a task with source codehost belong${fields.length === 1 ? 's' : ''} to the code host. Change it there; the next sync brings it here.`,
  )

export const routeNotFound = (method: string, path: string) =>
  new AppError(
    'not_found',
    `There is nothing at ${method} ${path.slice(0, 100)}. GET /openapi.json lists what there is.`,
  )

export const unreadableAddress = () =>
  validationFailed([
    {
      path: 'path',
      code: 'wrong_format',
      message: 'must be UTF-8 with every percent sign followed by two hexadecimal digits',
    },
  ])

export const problemNotFound = (code: string) =>
  new AppError('not_found', `There is no problem type ${code}.`)

export const taskNotFound = (id: string) => new AppError('task_not_found', `There is no task ${id}.`)

export const activityNotFound = (id: string) =>
  new AppError('activity_not_found', `There is no activity entry ${id}.`)

export const keyNotFound = (id: string) => new AppError('key_not_found', `There is no key ${id}.`)

export const sessionNotFound = (id: string) => new AppError('session_not_found', `There is no session ${id}.`)

export const webhookSecretNotFound = (id: string) =>
  new AppError('webhook_secret_not_found', `There is no webhook secret ${id}.`)

export const listNotFound = (id: string) => new AppError('list_not_found', `There is no list ${id}.`)

export const eventNotFound = (id: string) =>
  new AppError('event_not_found', `There is no feedback event ${id}.`)

export const routingRuleNotFound = (id: string) =>
  new AppError('routing_rule_not_found', `There is no routing rule ${id}.`)

export const projectNotFound = (id: string) => new AppError('project_not_found', `There is no project ${id}.`)

export const ruleNotFound = (id: string) => new AppError('rule_not_found', `There is no rule ${id}.`)

export const ruleVersionNotFound = (id: string, version: number) =>
  new AppError('rule_version_not_found', `The rule ${id} never had a version ${version}.`)

export const globalRuleOutOfReach = () =>
  new AppError(
    'insufficient_scope',
    'This key is bound to a project, and a rule without a project applies to all of them. Use a key that is not bound, or name the project.',
    { requiredScope: 'rules:write' },
  )

export const foreignOrigin = (header: 'Origin' | 'Host', given: string) =>
  new AppError(
    'origin_not_allowed',
    `The header ${header} says ${JSON.stringify(given.slice(0, 100))}, which is neither this machine nor PUBLIC_URL.`,
  )

export const tooManyRules = (most: number) =>
  new AppError(
    'too_many_rules',
    `There are ${most} rules here already, which is the most. Delete one, or put several into one.`,
  )

export const methodNotAllowed = (method: string, allow: string[]) =>
  new AppError('method_not_allowed', `${method} does not work here; ${allow.join(', ')} would.`, { allow })

export const projectArchived = (name: string) =>
  new AppError('project_archived', `The project "${name}" is archived: unarchive it before you write to it.`)

/** @param holds what it still holds, in words: tasks, rules, keys. */
export const projectNotEmpty = (name: string, holds: string[]) =>
  new AppError(
    'project_not_empty',
    `The project "${name}" still holds ${holds.join(' and ')}: move or delete its tasks, delete its rules and revoke its keys first.`,
  )

export const projectIsDefault = (name: string) =>
  new AppError(
    'project_is_default',
    `The project "${name}" is the default: it can be renamed, not archived or deleted.`,
  )

export const listNotEmpty = (name: string) =>
  new AppError(
    'list_not_empty',
    `The list "${name}" holds tasks: say with ?moveTo= which list of the project takes them.`,
  )

export const listIsDefault = (name: string) =>
  new AppError(
    'list_is_default',
    `The list "${name}" is the default of its project: it can be renamed and moved, not deleted.`,
  )

export const externalIdTaken = () =>
  new AppError(
    'external_id_taken',
    'Another task of that project and source already has this task’s externalId.',
  )

export const eventNotReplayable = (id: string) =>
  new AppError(
    'event_not_replayable',
    `The feedback event ${id} has no task, and what was sent is not kept whole: let its sender send it again.`,
  )

export const requestInProgress = () =>
  new AppError(
    'request_in_progress',
    'Another request with this Idempotency-Key is still at work. Send this one again in a moment.',
  )

export const tooManySecrets = () =>
  new AppError(
    'too_many_secrets',
    'Two webhook secrets work already. Revoke one, or wait until the overlap of the last rotation is over.',
  )

export const idempotencyKeyReused = () =>
  new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request in the last 24 hours. Take a new one.',
  )

export const idempotencyNotSupported = () =>
  new AppError(
    'idempotency_not_supported',
    'The answer of this route holds a secret, which is never kept. Leave Idempotency-Key out.',
    { errors: [{ path: 'header.idempotency-key', code: 'not_supported', message: 'is not supported here' }] },
  )

export const rateLimited = (retryAfterSeconds: number) =>
  new AppError('rate_limited', `Too many requests. Wait ${retryAfterSeconds} s.`, { retryAfterSeconds })

export const versionMismatch = (current: number, what = 'task') =>
  new AppError(
    'version_mismatch',
    `The ${what} has changed since you read it: it is at version ${current} now. Read it again and decide.`,
  )

export const bodyTooLarge = (limitBytes: number) =>
  new AppError('body_too_large', `The body is larger than ${limitBytes} bytes, which is the limit here.`)

export const unsupportedMediaType = (given: string | undefined) =>
  new AppError(
    'unsupported_media_type',
    `Send the body as application/json, not ${given ? `as ${given.slice(0, 100)}` : 'without a Content-Type'}.`,
  )

export const unavailable = (cause?: unknown) =>
  new AppError(
    'unavailable',
    'The database does not answer at the moment. Try again; with an externalId a repeat makes no second task.',
    { retryAfterSeconds: 2 },
    { cause },
  )

export const deliveryUnavailable = (cause?: unknown) =>
  new AppError(
    'unavailable',
    'The database does not answer at the moment. Send the event again: a repeat makes no second task.',
    { retryAfterSeconds: 2 },
    { cause },
  )

export const shuttingDown = () =>
  new AppError('unavailable', 'This instance is shutting down. Another one, or a later try, will answer.', {
    retryAfterSeconds: 2,
  })

export const codehostUrlNotAllowed = (apiUrl: string, allowed: readonly string[]) =>
  new AppError(
    'codehost_url_not_allowed',
    `${apiUrl.slice(0, 100)} is not a code host this Inlet may ask. Allowed: ${allowed.join(', ')}; CODEHOST_API_URLS says so.`,
  )

export const connectionNotFound = () =>
  new AppError('connection_not_found', 'No repository is connected to this project.')

export const syncRunNotFound = (id: string) =>
  new AppError('sync_run_not_found', `There is no sync run ${id} of this project.`)

export const repositoryNotConnected = () =>
  new AppError(
    'repository_not_connected',
    'No repository is connected to this project. PUT /api/projects/{id}/codehost connects one.',
  )

export const syncInProgress = (runId: string, retryAt: string | null) =>
  new AppError(
    'sync_in_progress',
    retryAt
      ? `A sync of this project waits for the code host until ${retryAt}.`
      : 'A sync of this project is at work already.',
    { runId, retryAt },
  )

/** The code host refuses the connection, for a reason a person can act on. */
export const codehostRefused = (
  code: 'codehost_token_rejected' | 'codehost_repository_not_found' | 'codehost_access_denied',
  message: string,
) => new AppError(code, message)

export const codehostUnreachable = (why: string, retryAfterSeconds = 5) =>
  new AppError('codehost_unreachable', `The code host does not answer as it should: ${why}`, {
    retryAfterSeconds,
  })

export const encryptionKeyMissing = () =>
  new AppError(
    'encryption_key_missing',
    'A token is kept encrypted, and there is no key for that. Make one with: echo "ENCRYPTION_KEY=$(openssl rand -hex 32)" >> .env — then restart, with the same line on every instance.',
  )

/** A token was stored once, and the key that opens it is gone. */
export const encryptionKeyGone = () =>
  new AppError(
    'encryption_key_missing',
    'A token is stored, encrypted with an ENCRYPTION_KEY that is not set any more. Set it again and restart, or send null as the token to take the stored one away.',
  )
