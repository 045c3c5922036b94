import type { ErrorCode } from '../../errors/index.ts'

/** What each mistake looks like over HTTP, and what `/problems/{code}` explains. */
export const PROBLEMS = {
  validation_failed: [
    400,
    'The request is not valid',
    'One or more values are missing, unknown or of the wrong shape. `errors` lists each with its path and what would be right.',
  ],
  bad_request: [
    400,
    'The request cannot be read',
    'It is not HTTP as this service speaks it: headers beyond measure, a range that is not there, a length that lies.',
  ],
  invalid_json: [
    400,
    'The body is not JSON',
    'The body could not be read as UTF-8 JSON, or it names `__proto__` or `constructor.prototype`.',
  ],
  invalid_cursor: [
    400,
    'The cursor is not valid',
    'Cursors are opaque and belong to one list and one sort. Begin again without a cursor.',
  ],
  idempotency_not_supported: [
    400,
    'No Idempotency-Key here',
    'The answer of this route holds a secret, which is never kept, so it cannot be replayed.',
  ],
  missing_credentials: [401, 'Credentials are missing', 'Send an API key in the header `X-API-Key`.'],
  invalid_credentials: [401, 'Credentials are not valid', 'The key is unknown or was revoked.'],
  expired_credentials: [401, 'Credentials have expired', 'The key was valid until its `expiresAt`.'],
  insufficient_scope: [
    403,
    'The key may not do this',
    'The key is valid, but lacks the scope named in `requiredScope`.',
  ],
  origin_not_allowed: [
    403,
    'The request comes from elsewhere',
    'With a session, the header `Origin` must name the address of this Inlet.',
  ],
  description_read_only: [
    403,
    'The description is read-only',
    'A description that came from elsewhere stays as it came. Use `notes`.',
  ],
  managed_by_codehost: [
    403,
    'The code host owns this',
    'Title, labels, assignees, address and project of a synced task follow the code host. Change them there.',
  ],
  codehost_url_not_allowed: [
    403,
    'This code host is not allowed',
    'Inlet asks only the addresses its operator lists in CODEHOST_API_URLS.',
  ],
  not_found: [404, 'Nothing here', 'No route has this address.'],
  task_not_found: [
    404,
    'No such task',
    'The task does not exist, was deleted, or is outside what the key may see.',
  ],
  activity_not_found: [404, 'No such entry', 'The entry does not exist, or is outside what the key may see.'],
  key_not_found: [
    404,
    'No such key',
    'The key does not exist, was revoked, or is outside what the caller may see.',
  ],
  session_not_found: [
    404,
    'No such session',
    'The session does not exist, has ended, or is not the caller’s to see.',
  ],
  webhook_secret_not_found: [
    404,
    'No such webhook secret',
    'The secret does not exist, was revoked or has expired.',
  ],
  list_not_found: [404, 'No such list', 'The list does not exist, or is outside what the key may see.'],
  event_not_found: [404, 'No such feedback event', 'The inbox has no entry with this id.'],
  routing_rule_not_found: [404, 'No such routing rule', 'The routing rule does not exist.'],
  project_not_found: [
    404,
    'No such project',
    'The project does not exist, or is outside what the key may see.',
  ],
  rule_not_found: [
    404,
    'No such rule',
    'The rule does not exist, was deleted, or is outside what the key may see.',
  ],
  rule_version_not_found: [404, 'No such version', 'The rule exists and never had this version.'],
  connection_not_found: [404, 'No repository is connected', 'The project follows no repository.'],
  sync_run_not_found: [404, 'No such sync run', 'The project never had this run.'],
  method_not_allowed: [
    405,
    'Another method is wanted',
    'The address exists; the header `Allow` names the methods that work.',
  ],
  request_timeout: [
    408,
    'The request took too long',
    'Its body stopped arriving, or came more slowly than others while there was no room for all.',
  ],
  project_archived: [
    409,
    'The project is archived',
    'Archived projects can be read, not written. Unarchive it first.',
  ],
  project_not_empty: [
    409,
    'The project is not empty',
    'A project is deleted only when it has no tasks. Deleted tasks do not count; they go with it.',
  ],
  project_in_use: [
    409,
    'The project is in use',
    'A project is deleted only when no rule, no key that still works and no routing rule names it. Deleted rules do not count; they go with it.',
  ],
  last_admin_key: [
    409,
    'This is the last admin key',
    'At least one unbound key with the scope `admin` has to work. Create another one first, then revoke this one.',
  ],
  project_is_default: [
    409,
    'The project is the default',
    'The default project takes what names no other. It can be renamed, not archived or deleted.',
  ],
  list_not_empty: [
    409,
    'The list is not empty',
    'Name in `moveTo` the list of the same project that takes the tasks.',
  ],
  list_is_default: [
    409,
    'The list is the default',
    'The default list takes the tasks of its project that name no list. It can be renamed and moved, not deleted.',
  ],
  external_id_taken: [
    409,
    'The externalId is taken',
    'An externalId is unique among the tasks of one project and source that are not deleted.',
  ],
  event_not_replayable: [
    409,
    'The event cannot be tried again',
    'It was ignored, or it was rejected and what was sent is not kept whole any more. Its sender has to send it again.',
  ],
  repository_not_connected: [
    409,
    'No repository is connected',
    'Connect a repository to the project before it can be synced.',
  ],
  sync_in_progress: [
    409,
    'A sync is at work',
    'A project has one sync at a time. `runId` names it; `retryAt` says when it goes on, if the code host makes it wait.',
  ],
  request_in_progress: [
    409,
    'The first request is still at work',
    'Two requests with one Idempotency-Key came at once, and the first took long. Send it again.',
  ],
  too_many_secrets: [
    409,
    'Two secrets are the most',
    'At most two webhook secrets work at a time: the current one and the one it replaces.',
  ],
  too_many_rules: [
    409,
    'There are too many rules',
    'There can be 1,000 rules for all projects together and 1,000 for each project.',
  ],
  version_mismatch: [
    412,
    'It changed in between',
    'The version in `If-Match` is no longer current. Read it again and decide.',
  ],
  body_too_large: [413, 'The body is too large', 'Send less at once.'],
  unsupported_media_type: [415, 'The body must be JSON', 'Send `Content-Type: application/json`.'],
  idempotency_key_reused: [
    422,
    'The Idempotency-Key was used for something else',
    'A key belongs to one request for 24 hours. Take a new key for another request.',
  ],
  codehost_token_rejected: [
    422,
    'The code host does not accept the token',
    'The token is wrong, has expired or was revoked, or the stored one cannot be decrypted any more. Send another.',
  ],
  codehost_repository_not_found: [
    422,
    'The code host knows no such repository',
    'The name is wrong, or the token may not see the repository.',
  ],
  codehost_access_denied: [
    422,
    'The code host denies access',
    'The token lacks a permission, single sign-on is wanted, or issues are turned off. `detail` says which.',
  ],
  encryption_key_missing: [
    422,
    'There is no key to encrypt the token with',
    'With a database of your own the key comes from ENCRYPTION_KEY. Without one, `detail` holds the line that makes one; a token stored before needs the key it was stored with.',
  ],
  rate_limited: [
    429,
    'Too many requests',
    'Wait as long as `Retry-After` says. `RateLimit` says how much is left.',
  ],
  internal_error: [
    500,
    'Something went wrong here',
    'It is logged under the request id. Trying again may help.',
  ],
  unavailable: [
    503,
    'Not available at the moment',
    'The database does not answer, or too much is going on. Wait as long as `Retry-After` says and try again.',
  ],
  codehost_unreachable: [
    503,
    'The code host does not answer',
    'It is away, too slow, limits requests, or answers what its API does not describe. Try again later.',
  ],
} as const satisfies Record<ErrorCode, readonly [status: number, title: string, explanation: string]>
