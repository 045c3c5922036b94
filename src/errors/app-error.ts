/**
 * All error codes of Inlet. Clients branch on the code; `plugins/problems/types.ts` maps each to HTTP. Nothing here
 * depends on HTTP.
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
  | 'person_required'
  | 'personal_key'
  | 'service_key_required'
  | 'sign_in_again'
  | 'origin_not_allowed'
  | 'description_read_only'
  | 'managed_by_codehost'
  | 'codehost_url_not_allowed'
  | 'not_found'
  | 'task_not_found'
  | 'comment_not_found'
  | 'activity_not_found'
  | 'key_not_found'
  | 'user_not_found'
  | 'invite_not_found'
  | 'invite_invalid'
  | 'passkey_not_found'
  | 'identity_provider_not_found'
  | 'identity_not_found'
  | 'session_not_found'
  | 'webhook_secret_not_found'
  | 'list_not_found'
  | 'source_not_found'
  | 'delivery_not_found'
  | 'webhook_not_found'
  | 'routing_rule_not_found'
  | 'project_not_found'
  | 'saved_filter_not_found'
  | 'rule_not_found'
  | 'rule_version_not_found'
  | 'connection_not_found'
  | 'sync_run_not_found'
  | 'method_not_allowed'
  | 'project_archived'
  | 'project_not_empty'
  | 'project_in_use'
  | 'last_admin_key'
  | 'last_owner'
  | 'last_way_in'
  | 'username_taken'
  | 'passkey_taken'
  | 'too_many_passkeys'
  | 'role_managed_by_provider'
  | 'identity_provider_exists'
  | 'identity_provider_in_use'
  | 'identity_provider_read_only'
  | 'too_many_identity_providers'
  | 'project_is_default'
  | 'list_not_empty'
  | 'list_is_default'
  | 'external_id_taken'
  | 'merge_conflict'
  | 'dependency_cycle'
  | 'task_claimed'
  | 'task_not_ready'
  | 'task_done'
  | 'claim_lost'
  | 'delivery_not_replayable'
  | 'closed_at_codehost'
  | 'nothing_to_retry'
  | 'repository_not_connected'
  | 'sync_in_progress'
  | 'request_in_progress'
  | 'import_not_empty'
  | 'too_many_saved_filters'
  | 'too_many_secrets'
  | 'too_many_rules'
  | 'too_many_keys'
  | 'too_many_webhooks'
  | 'webhook_not_active'
  | 'webhook_secret_missing'
  | 'source_secret_missing'
  | 'request_timeout'
  | 'version_mismatch'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'codehost_token_rejected'
  | 'codehost_repository_not_found'
  | 'codehost_access_denied'
  | 'encryption_key_missing'
  | 'public_url_missing'
  | 'webhook_url_not_allowed'
  | 'identity_provider_unreachable'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable'
  | 'import_in_progress'
  | 'codehost_unreachable'

/** One error of the input. `path` is a JSON Pointer into the body, or `query.x`, `path.x`, `header.x`. */
export interface FieldError {
  path: string
  code: string
  message: string
}

/** The claim of a task. */
export interface ClaimRef {
  by: { type: string; id: string | null; name: string }
  number: number
  expiresAt: string
}

/** Members of a problem document beside code and detail. */
export interface Extras {
  errors?: FieldError[]
  /** How many errors there are beside those in `errors`. */
  errorsOmitted?: number
  requiredScope?: string
  allow?: string[]
  retryAfterSeconds?: number
  /** Tasks, each of which would be blocked by the next, and the last by the first. */
  cycle?: string[]
  /** The sync run that is in progress, and its retry time if it waits. */
  runId?: string
  retryAt?: string | null
  /** The claim that prevents another one. */
  claim?: ClaimRef
  /** The detail without names that users wrote: an assistant might read a name as an instruction. */
  withoutNames?: string
}

interface AppErrorOptions extends Extras {
  detail: string
  cause?: unknown
}

export class AppError extends Error {
  readonly code: ErrorCode
  readonly extras: Extras

  constructor(code: ErrorCode, { detail, cause, ...extras }: AppErrorOptions) {
    super(detail, cause === undefined ? undefined : { cause })
    this.name = 'AppError'
    this.code = code
    this.extras = extras
  }
}
