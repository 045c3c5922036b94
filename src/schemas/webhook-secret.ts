import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, Uuid } from './parts.ts'

const shown = {
  id: Uuid('Identifier of the secret.'),
  lastFour: Type.String({ description: 'How it ends.' }),
  createdAt: DateTime('When it was made.'),
  expiresAt: Nullable(DateTime('After a rotation: when it stops working; null for never.')),
  lastUsedAt: Nullable(DateTime('When it was last used, to within some seconds; null for never.')),
}

export const WebhookSecret = Type.Object(shown, {
  $id: 'WebhookSecret',
  description: 'A secret the feedback sender proves itself with, without its value.',
})
export type WebhookSecret = Static<typeof WebhookSecret>

export const WebhookSecretWithValue = Type.Object(
  {
    ...shown,
    secret: Type.String({ description: 'The secret. This answer is the only one that holds it.' }),
  },
  { $id: 'WebhookSecretWithValue', description: 'A new secret, which is shown this once.' },
)
export type WebhookSecretWithValue = Static<typeof WebhookSecretWithValue>

/** The receiver's settings from the environment, for users who configure a sender. */
export const FeedbackReceiver = Type.Object(
  {
    baseUrl: Nullable(
      Type.String({
        description: 'Where this Inlet is reached, as `PUBLIC_URL` says; null where it says nothing.',
      }),
    ),
    port: Nullable(
      Type.Integer({
        description: '`WEBHOOK_PORT`: a port that serves the receiver and nothing else; null for none.',
      }),
    ),
    hasEnvironmentSecret: Type.Boolean({ description: 'Whether `WEBHOOK_SECRET` works beside these.' }),
  },
  { $id: 'FeedbackReceiver', description: 'What the environment says of the feedback receiver.' },
)
export type FeedbackReceiver = Static<typeof FeedbackReceiver>

const { properties, ...about } = PageOf(ref(WebhookSecret), 'The secrets that work, and their receiver.')
export const WebhookSecretPage = Type.Object({ ...properties, receiver: ref(FeedbackReceiver) }, about)
