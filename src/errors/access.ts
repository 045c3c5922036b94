import { AppError } from './app-error.ts'

export const lastAdminKey = (name: string) =>
  new AppError('last_admin_key', {
    detail: `The key "${name}" is the last admin key for all projects. Create another admin key that is not bound to a project first.`,
  })

export const missingCredentials = () =>
  new AppError('missing_credentials', {
    detail: 'Send an API key in the X-API-Key header, or as Authorization: Bearer.',
  })

export const invalidCredentials = () =>
  new AppError('invalid_credentials', {
    detail: 'The API key is invalid or was revoked. Send a valid one in the X-API-Key header.',
  })

export const expiredCredentials = () =>
  new AppError('expired_credentials', {
    detail: 'The API key has expired. Ask an administrator for a new one.',
  })

export const missingWebhookSecret = () =>
  new AppError('missing_credentials', {
    detail: 'Send the webhook secret in the header Authorization: Bearer <secret>.',
  })

export const invalidWebhookSecret = () =>
  new AppError('invalid_credentials', { detail: 'The webhook secret is invalid or was revoked.' })

export const missingSignature = () =>
  new AppError('missing_credentials', {
    detail:
      'Sign the delivery: the header X-Hub-Signature-256 is required. Set the secret of the connection in the settings of the webhook.',
  })

/** The same for an unknown connection: its sender learns nothing. */
export const invalidSignature = () =>
  new AppError('invalid_credentials', {
    detail:
      'The signature does not match the body and the secret of a connection with this ID. Set the URL and the secret of the connection in the settings of the webhook.',
  })

export const missingSender = () =>
  new AppError('missing_credentials', {
    detail:
      'The delivery has neither a secret nor a signature. Set the secret of the source in the settings of the sender.',
  })

/** The same for an unknown source, and for one that is switched off: its sender learns nothing. */
export const invalidSender = () =>
  new AppError('invalid_credentials', {
    detail:
      'The secret or signature does not match an active source with this ID, or the timestamp is more than five minutes off. Copy the URL and the secret of the source to the sender again, or rotate the secret if it is lost.',
  })

/** Senders retry a 503, and would give up at a 401: the delivery may be signed correctly. */
export const secretUnreadable = () =>
  new AppError('unavailable', {
    detail:
      'The secret that verifies this delivery cannot be decrypted, because the encryption key of Inlet has changed. Send the delivery again later.',
    retryAfterSeconds: 60,
  })

export const sessionEnded = () =>
  new AppError('invalid_credentials', { detail: 'The session has ended. Sign in again.' })

export const originNotAllowed = () =>
  new AppError('origin_not_allowed', {
    detail: 'Requests with a session must come from the dashboard’s own origin.',
  })

export const foreignOrigin = (header: 'Origin' | 'Host', value: string) =>
  new AppError('origin_not_allowed', {
    detail: `${header} ${JSON.stringify(value.slice(0, 100))} is not allowed. Use this machine’s address or PUBLIC_URL.`,
  })

export const insufficientScope = (requiredScope: string) =>
  new AppError('insufficient_scope', {
    detail: `This operation requires the scope ${requiredScope}.`,
    requiredScope,
  })

export const strongerKey = () =>
  new AppError('insufficient_scope', {
    detail:
      'The key is stronger than yours: it is valid for longer, or has more scopes. Use one that is at least as strong.',
    requiredScope: 'admin',
  })

export const secretReplaced = (requiredScope: string) =>
  new AppError('insufficient_scope', {
    detail:
      'The secret of this key was replaced, and the previous one cannot create, rotate or revoke keys or secrets. Use the new secret, or sign in again with it.',
    requiredScope,
  })

export const globalRuleOutOfReach = () =>
  new AppError('insufficient_scope', {
    detail:
      'A key that is bound to a project cannot change rules for all projects. Use a key that is not bound to a project, or set projectId.',
    requiredScope: 'rules:write',
  })

export const keyNotFound = (id: string) => new AppError('key_not_found', { detail: `Key ${id} not found.` })

export const sessionNotFound = (id: string) =>
  new AppError('session_not_found', { detail: `Session ${id} not found.` })

export const webhookSecretNotFound = (id: string) =>
  new AppError('webhook_secret_not_found', { detail: `Webhook secret ${id} not found.` })

export const tooManyReplacedSecrets = (nextEnd: string) =>
  new AppError('too_many_secrets', {
    detail: `Ten replaced webhook secrets are still valid, each for a day. Use the newest one, or wait until ${nextEnd}.`,
  })

export const tooManySecrets = () =>
  new AppError('too_many_secrets', {
    detail:
      'At most two webhook secrets can be valid. Revoke one, or wait until the overlap of the last rotation ends.',
  })
