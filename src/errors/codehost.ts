import { AppError } from './app-error.ts'

export const managedByCodehost = (fields: string[]) =>
  new AppError('managed_by_codehost', {
    detail: `The code host manages ${fields.join(', ')} of this task. Make the change there; the next sync updates the task.`,
  })

export const closedAtCodehost = (kind: 'issue' | 'pull_request' | null) =>
  new AppError('closed_at_codehost', {
    detail:
      kind === 'pull_request'
        ? 'The pull request is closed at the code host. Reopen it there; the task follows.'
        : 'The issue is closed at the code host. Reopen it there, or turn on write-back in the settings of the connection to reopen it from here.',
  })

export const nothingToRetry = () =>
  new AppError('nothing_to_retry', {
    detail: 'Nothing of this task has failed or waits to be written to the code host.',
  })

export const commentManagedByCodehost = () =>
  new AppError('managed_by_codehost', {
    detail:
      'The comment was written at the code host. Edit or delete it there; the next sync updates the task.',
  })

export const codehostUrlNotAllowed = (apiUrl: string, allowed: readonly string[]) =>
  new AppError('codehost_url_not_allowed', {
    detail: `${apiUrl.slice(0, 100)} is not an allowed code host. Allowed by CODEHOST_API_URLS: ${allowed.join(', ')}.`,
  })

/** A key bound to a project must use its own token or GitHub App, never what somebody else stored. */
export const tokenRequired = () =>
  new AppError('insufficient_scope', {
    detail:
      'A key bound to a project must send its own token or GitHub App to connect a repository. Only an admin key for all projects can use CODEHOST_TOKEN, or a stored token or App, for that.',
    requiredScope: 'admin',
    errors: [
      { path: '/token', code: 'required', message: 'or app is required for a key bound to a project' },
    ],
  })

export const connectionNotFound = () =>
  new AppError('connection_not_found', { detail: 'No repository is connected to this project.' })

export const syncRunNotFound = (id: string) =>
  new AppError('sync_run_not_found', { detail: `Sync run ${id} not found in this project.` })

export const repositoryNotConnected = () =>
  new AppError('repository_not_connected', {
    detail: 'No repository is connected to this project. Connect one with PUT /api/projects/{id}/codehost.',
  })

export const syncInProgress = (runId: string, retryAt: string | null) =>
  new AppError('sync_in_progress', {
    detail: retryAt
      ? `A sync of this project is waiting for the code host until ${retryAt}.`
      : 'A sync of this project is already running.',
    runId,
    retryAt,
  })

/** The code host rejects the connection, for a reason that the user can fix. */
export const codehostRefused = (
  code: 'codehost_token_rejected' | 'codehost_repository_not_found' | 'codehost_access_denied',
  message: string,
) => new AppError(code, { detail: message })

export const codehostUnreachable = (reason: string, retryAfterSeconds = 5) =>
  new AppError('codehost_unreachable', {
    detail: `The code host did not respond as expected: ${reason}`,
    retryAfterSeconds,
  })

export const encryptionKeyMissing = () =>
  new AppError('encryption_key_missing', {
    detail:
      'Tokens, private keys, and webhook secrets are stored encrypted, and ENCRYPTION_KEY is not set. Create a key with "openssl rand -hex 32", set ENCRYPTION_KEY to it on every instance, and restart. With Docker Compose, set it in .env, and run "docker compose up -d".',
  })

/** A stored token or private key cannot be decrypted: its encryption key is missing. */
export const encryptionKeyGone = () =>
  new AppError('encryption_key_missing', {
    detail:
      'The stored token or private key was encrypted with an ENCRYPTION_KEY that is no longer set. Set it again and restart, or send null as the token or app to remove it.',
  })

export const pushNotReplayable = (id: string) =>
  new AppError('delivery_not_replayable', {
    detail: `The payload of delivery ${id} is not stored. Redeliver it at the code host within three days, or start a sync.`,
  })
