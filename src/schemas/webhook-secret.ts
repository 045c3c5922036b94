import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, Uuid } from './parts.ts'

const shown = {
  id: Uuid('The ID of the secret.'),
  lastFour: Type.String({ description: 'The last four characters of the secret.' }),
  createdAt: DateTime('When the secret was created.'),
  expiresAt: Nullable(DateTime('When the secret expires after a rotation, or null if it doesn’t.')),
  lastUsedAt: Nullable(
    DateTime('When the secret was last used, accurate to a few seconds, or null if never.'),
  ),
}

export const WebhookSecret = Type.Object(shown, {
  $id: 'WebhookSecret',
  description: 'A webhook secret, without its value. Feedback senders use it to authenticate.',
})
export type WebhookSecret = Static<typeof WebhookSecret>

export const WebhookSecretWithValue = Type.Object(
  {
    ...shown,
    secret: Type.String({ description: 'The secret. It is only returned once.' }),
  },
  { $id: 'WebhookSecretWithValue', description: 'A webhook secret with its value.' },
)
export type WebhookSecretWithValue = Static<typeof WebhookSecretWithValue>

/** The receiver's settings from the environment, for users who configure a sender. */
export const FeedbackReceiver = Type.Object(
  {
    baseUrl: Nullable(
      Type.String({
        description: 'The public URL of this Inlet (`PUBLIC_URL`), or null if it isn’t set.',
      }),
    ),
    port: Nullable(
      Type.Integer({
        description: 'The separate port of the receiver (`WEBHOOK_PORT`), or null if it isn’t set.',
      }),
    ),
    hasEnvironmentSecret: Type.Boolean({
      description: 'Whether `WEBHOOK_SECRET` is set. It works in addition to these secrets.',
    }),
  },
  { $id: 'FeedbackReceiver', description: 'The configuration of the feedback receiver.' },
)
export type FeedbackReceiver = Static<typeof FeedbackReceiver>

const { properties, ...about } = PageOf(ref(WebhookSecret), {
  description: 'The active secrets, and the configuration of the receiver.',
})
export const WebhookSecretPage = Type.Object({ ...properties, receiver: ref(FeedbackReceiver) }, about)
