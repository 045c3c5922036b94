import type { ErrorCode } from '../../errors/index.ts'

/** The status, title and explanation of each error. */
export const PROBLEMS: Record<ErrorCode, readonly [status: number, title: string, explanation: string]> = {
  validation_failed: [
    400,
    'Invalid request',
    'One or more values are missing, unknown or invalid. `errors` lists each with its path and what is expected.',
  ],
  bad_request: [
    400,
    'Malformed request',
    'The request is not valid HTTP for this service: oversized headers, an unsatisfiable range, or an incorrect length.',
  ],
  invalid_json: [
    400,
    'Invalid JSON',
    'The body is not UTF-8 JSON, or it contains `__proto__` or `constructor.prototype`.',
  ],
  invalid_cursor: [
    400,
    'Invalid cursor',
    'Cursors are opaque and belong to one list and one sort. Start without a cursor.',
  ],
  idempotency_not_supported: [
    400,
    'Idempotency-Key not supported',
    'The response of this route contains a secret, which is never stored, so it cannot be replayed.',
  ],
  missing_credentials: [401, 'Missing credentials', 'Send an API key in the `X-API-Key` header.'],
  invalid_credentials: [401, 'Invalid credentials', 'The key is invalid or was revoked.'],
  expired_credentials: [401, 'Expired credentials', 'The key was valid until its `expiresAt`.'],
  insufficient_scope: [
    403,
    'Insufficient scope',
    'The key is valid, but does not have the scope in `requiredScope`.',
  ],
  person_required: [
    403,
    'Person required',
    'Only a person who is signed in can do this, not an API key or a session of one.',
  ],
  personal_key: [
    403,
    'Personal key',
    'A personal key belongs to a person and opens no session. Only that person can create a new secret for it.',
  ],
  service_key_required: [
    403,
    'Service key required',
    'People cannot do this, as it ends what they sign in with. Use an admin key of all projects, or a session of one.',
  ],
  sign_in_again: [
    403,
    'Sign in again',
    'The sign-in must be less than ten minutes old for changes of what one signs in with.',
  ],
  origin_not_allowed: [
    403,
    'Origin not allowed',
    'With a session, the `Origin` header must be the address of this service.',
  ],
  description_read_only: [
    403,
    'Description is read-only',
    'The description of a task from another system cannot be changed. Use `notes`.',
  ],
  managed_by_codehost: [
    403,
    'Managed by the code host',
    'The code host manages title, labels, assignees, URL and project of a synced task, and the comments written there. Change them there.',
  ],
  codehost_url_not_allowed: [403, 'Code host not allowed', 'Only the URLs in CODEHOST_API_URLS are allowed.'],
  not_found: [404, 'Not found', 'No route has this path.'],
  task_not_found: [
    404,
    'Task not found',
    'The task does not exist, was deleted, or the key cannot access it.',
  ],
  comment_not_found: [
    404,
    'Comment not found',
    'The comment or its task does not exist, was deleted, or the key cannot access it.',
  ],
  activity_not_found: [
    404,
    'Activity not found',
    'The activity does not exist, or the key cannot access it.',
  ],
  key_not_found: [
    404,
    'Key not found',
    'The key does not exist, was revoked, or the caller cannot access it.',
  ],
  user_not_found: [404, 'Person not found', 'No person has this ID. People are deactivated, never deleted.'],
  invite_not_found: [404, 'Invite not found', 'The invite does not exist, or was accepted or withdrawn.'],
  invite_invalid: [
    410,
    'Invite no longer valid',
    'The invite was accepted or withdrawn, has expired after 7 days, or was made by somebody who may no longer invite. Ask for a new one.',
  ],
  passkey_not_found: [404, 'Passkey not found', 'The passkey does not exist, or belongs to somebody else.'],
  session_not_found: [
    404,
    'Session not found',
    'The session does not exist, has ended, or belongs to somebody else.',
  ],
  webhook_secret_not_found: [
    404,
    'Webhook secret not found',
    'The secret does not exist, was revoked or has expired.',
  ],
  list_not_found: [404, 'List not found', 'The list does not exist, or the key cannot access it.'],
  source_not_found: [404, 'Source not found', 'The source does not exist, or the key cannot access it.'],
  delivery_not_found: [
    404,
    'Delivery not found',
    'There is no delivery with this id, or the key cannot access it.',
  ],
  webhook_not_found: [404, 'Webhook not found', 'The webhook does not exist, or the key cannot access it.'],
  routing_rule_not_found: [404, 'Routing rule not found', 'The routing rule does not exist.'],
  project_not_found: [404, 'Project not found', 'The project does not exist, or the key cannot access it.'],
  saved_filter_not_found: [
    404,
    'Saved filter not found',
    'The saved filter does not exist, was deleted, or belongs to somebody else.',
  ],
  rule_not_found: [
    404,
    'Rule not found',
    'The rule does not exist, was deleted, or the key cannot access it.',
  ],
  rule_version_not_found: [404, 'Version not found', 'The rule exists, but has no such version.'],
  connection_not_found: [404, 'No repository connected', 'The project is not connected to a repository.'],
  sync_run_not_found: [404, 'Sync run not found', 'The project has no such run.'],
  method_not_allowed: [
    405,
    'Method not allowed',
    'The path does not support this method. The `Allow` header lists the supported ones.',
  ],
  request_timeout: [
    408,
    'Request timeout',
    'The body stopped arriving, or arrived too slowly. Send it again, at 1 KiB a second or faster.',
  ],
  closed_at_codehost: [
    409,
    'Closed at the code host',
    'The issue or pull request is closed at the code host, so its task is done. Issues can be reopened here while write-back is on; pull requests only at the code host.',
  ],
  nothing_to_retry: [
    409,
    'Nothing to retry',
    'Nothing of the task has failed or waits to be written to the code host. What was given up because the issue changed there is not written again.',
  ],
  project_archived: [
    409,
    'Project archived',
    'Archived projects are read-only. Unarchive the project first.',
  ],
  project_not_empty: [
    409,
    'Project not empty',
    'A project can only be deleted if it has no tasks. Deleted tasks do not count; they are removed with it.',
  ],
  project_in_use: [
    409,
    'Project in use',
    'A project can only be deleted if no rule, valid key, routing rule, source, webhook, connection, person or invite references it. Deleted rules do not count; they are removed with it.',
  ],
  last_admin_key: [
    409,
    'Last admin key',
    'At least one key with the scope `admin` that is not bound to a project must be valid. Create another one before you revoke this one.',
  ],
  last_owner: [
    409,
    'Last owner',
    'At least one active person must be an owner. Make somebody else an owner first.',
  ],
  last_way_in: [
    409,
    'Last way to sign in',
    'Without it, the person could not sign in any more. Add another passkey, or set a password first.',
  ],
  username_taken: [409, 'Username taken', 'Another person has this username. Choose another one.'],
  passkey_taken: [409, 'Passkey already added', 'Each passkey can be added once, by one person.'],
  too_many_passkeys: [409, 'Too many passkeys', 'The person has 20 passkeys. Remove one first.'],
  project_is_default: [
    409,
    'Default project',
    'The default project receives everything without a project. It can be renamed, but not archived or deleted.',
  ],
  list_not_empty: [
    409,
    'List not empty',
    'Set `moveTo` to the list of the same project that the tasks move to.',
  ],
  list_is_default: [
    409,
    'Default list',
    'The default list receives tasks of its project without a list. It can be renamed and moved, but not deleted.',
  ],
  external_id_taken: [
    409,
    'externalId already exists',
    'An externalId is unique among the tasks of one project and source that are not deleted.',
  ],
  merge_conflict: [
    409,
    'Merge conflict',
    'A task is merged into another task of its project that isn’t merged itself. While it is merged, its status can’t be changed. A task with reports can’t be merged or deleted, and neither can be moved to another project. `detail` says what to do first.',
  ],
  dependency_cycle: [
    409,
    'Dependency cycle',
    'The tasks would block each other, directly or through others, so that none of them could ever be started. `cycle` lists them: each is blocked by the next, and the last by the first. Remove one of these dependencies first.',
  ],
  task_claimed: [
    409,
    'Task claimed',
    'Somebody else works on the task. `claim` says who, and until when. Claim another task, or try again later.',
  ],
  task_not_ready: [
    409,
    'Task not ready',
    'Only a task that is open, and that no other task blocks, can be claimed. `detail` says what has to be done first.',
  ],
  claim_lost: [
    409,
    'Claim lost',
    'The claim has ended: its lease is over, the task was released, completed or claimed again, or the claim belongs to somebody else. Nothing was changed.',
  ],
  delivery_not_replayable: [
    409,
    'Delivery cannot be replayed',
    'The delivery was ignored, or is older than 30 days: its payload is not stored completely, and its sender has to send it again. Or it is pending, and is processed by itself. Or it was a test of an outgoing webhook.',
  ],
  repository_not_connected: [
    409,
    'No repository connected',
    'Connect a repository to the project before you sync it.',
  ],
  sync_in_progress: [
    409,
    'Sync in progress',
    'A project has one sync at a time. `runId` is its id; `retryAt` is when it continues if the code host limits requests.',
  ],
  request_in_progress: [
    409,
    'Request in progress',
    'Another request with the same Idempotency-Key is still being processed. Send it again later.',
  ],
  import_not_empty: [
    409,
    'Instance not empty',
    'An export can only be imported into an instance without tasks, further projects and lists, rules, sources, outgoing webhooks, and connected repositories.',
  ],
  too_many_webhooks: [409, 'Too many webhooks', 'There are as many webhooks as allowed. Delete one first.'],
  webhook_not_active: [409, 'Webhook is off', 'The webhook is switched off. Set `isActive` to true first.'],
  source_secret_missing: [
    409,
    'Source has no secret',
    'The source was imported, and secrets are not exported. Rotate its secret first.',
  ],
  webhook_secret_missing: [
    409,
    'Webhook has no secret',
    'The webhook was imported, and secrets are not exported. Rotate its secret first.',
  ],
  too_many_saved_filters: [
    409,
    'Too many saved filters',
    'The key has as many saved filters as allowed. Delete one first.',
  ],
  too_many_secrets: [
    409,
    'Too many webhook secrets',
    'At most two webhook secrets are valid at a time: the current one and the one it replaces.',
  ],
  too_many_keys: [409, 'Too many keys', 'A person can have 50 personal keys. Revoke one first.'],
  too_many_rules: [
    409,
    'Too many rules',
    'There can be 1,000 rules for all projects together and 1,000 for each project.',
  ],
  version_mismatch: [
    412,
    'Version mismatch',
    'The version in `If-Match` is not the current one. Read the resource again before you change it.',
  ],
  body_too_large: [413, 'Body too large', 'Send a smaller body.'],
  unsupported_media_type: [
    415,
    'Unsupported media type',
    'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  ],
  idempotency_key_reused: [
    422,
    'Idempotency-Key reused',
    'A key belongs to one request for 24 hours. Use a new key for another request.',
  ],
  codehost_token_rejected: [
    422,
    'Code host token rejected',
    'The token is invalid, expired or revoked, or the stored one can no longer be decrypted. Send another one.',
  ],
  codehost_repository_not_found: [
    422,
    'Repository not found',
    'The name is incorrect, or the token cannot see the repository.',
  ],
  codehost_access_denied: [
    422,
    'Code host access denied',
    'The token lacks a permission, single sign-on is required, or issues are disabled. `detail` says which.',
  ],
  encryption_key_missing: [
    422,
    'Encryption key missing',
    'With an external database, the key is read from ENCRYPTION_KEY. `detail` says how to create one. A stored token needs the key that it was encrypted with.',
  ],
  public_url_missing: [
    422,
    'Public URL missing',
    'This needs an address under https that browsers reach Inlet at. Set PUBLIC_URL.',
  ],
  webhook_url_not_allowed: [
    422,
    'Webhook URL not allowed',
    'The URL must be https, and all addresses of its host must be public. WEBHOOK_ALLOW_HOSTS exempts hosts.',
  ],
  rate_limited: [
    429,
    'Too many requests',
    'Wait for the time in `Retry-After`. `RateLimit` has the remaining quota.',
  ],
  internal_error: [500, 'Internal error', 'The error is logged with the request id. A retry may succeed.'],
  unavailable: [
    503,
    'Service unavailable',
    'The database is unavailable, or there are too many requests. Retry after the time in `Retry-After`.',
  ],
  import_in_progress: [
    503,
    'Import in progress',
    'An export is being imported. Until it ends, nothing else can be changed. Retry after the time in `Retry-After`.',
  ],
  codehost_unreachable: [
    503,
    'Code host unreachable',
    'The code host is down, too slow, limits requests, or sent an invalid response. Try again later.',
  ],
}
