import { AppError } from './app-error.ts'

export const lastAdminKey = (name: string) =>
  new AppError(
    'last_admin_key',
    `The key "${name}" is the last one that may administer all projects. Create another unbound key with the scope admin first.`,
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

export const foreignOrigin = (header: 'Origin' | 'Host', value: string) =>
  new AppError(
    'origin_not_allowed',
    `The header ${header} says ${JSON.stringify(value.slice(0, 100))}, which is neither this machine nor PUBLIC_URL.`,
  )

export const insufficientScope = (requiredScope: string) =>
  new AppError('insufficient_scope', `This key lacks the scope ${requiredScope}.`, { requiredScope })

export const globalRuleOutOfReach = () =>
  new AppError(
    'insufficient_scope',
    'This key is bound to a project, and a rule without a project applies to all of them. Use a key that is not bound, or name the project.',
    { requiredScope: 'rules:write' },
  )

export const keyNotFound = (id: string) => new AppError('key_not_found', `There is no key ${id}.`)

export const sessionNotFound = (id: string) => new AppError('session_not_found', `There is no session ${id}.`)

export const webhookSecretNotFound = (id: string) =>
  new AppError('webhook_secret_not_found', `There is no webhook secret ${id}.`)

export const tooManySecrets = () =>
  new AppError(
    'too_many_secrets',
    'Two webhook secrets work already. Revoke one, or wait until the overlap of the last rotation is over.',
  )
