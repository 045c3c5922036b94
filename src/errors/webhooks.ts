import { AppError } from './app-error.ts'

export const webhookNotFound = (id: string) =>
  new AppError('webhook_not_found', { detail: `Webhook ${id} not found.` })

export const tooManyWebhooks = (max: number) =>
  new AppError('too_many_webhooks', {
    detail: `The limit of ${max} webhooks is reached. Delete one first.`,
  })

export const webhookNotActive = (id: string) =>
  new AppError('webhook_not_active', {
    detail: `Webhook ${id} is switched off. Set isActive to true first.`,
  })

export const webhookSecretMissing = (id: string) =>
  new AppError('webhook_secret_missing', {
    detail: `Webhook ${id} was imported without its secret. Rotate the secret, and store the new one at the receiver first.`,
  })

export const webhookOutOfReach = () =>
  new AppError('insufficient_scope', {
    detail:
      'A key that is bound to a project can only create webhooks for its project. Use a key that is not bound to a project, or send the ID of the project.',
    requiredScope: 'admin',
  })

export const testNotRetryable = (id: string) =>
  new AppError('delivery_not_replayable', {
    detail: `Delivery ${id} was a test. Send another test instead.`,
  })

const REASONS = {
  not_https: 'It is not https.',
  not_found: 'The host name was not found.',
  not_public: 'The host has an address that is not public.',
}

/** @param reason what is wrong with the URL, which may contain a secret and is not repeated. */
export const webhookUrlNotAllowed = (reason: keyof typeof REASONS) =>
  new AppError('webhook_url_not_allowed', {
    detail: `The URL is not allowed. ${REASONS[reason]} Use an https URL with a public address, or add the host to WEBHOOK_ALLOW_HOSTS and restart.`,
    errors: [{ path: '/url', code: reason, message: 'must be https and have a public address' }],
  })
