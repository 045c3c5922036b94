import { type Static, Type } from '@sinclair/typebox'
import { TYPE } from './activity.ts'
import {
  Cursor,
  DateTime,
  Limit,
  Nullable,
  PageOf,
  ref,
  StrictObject,
  StringEnum,
  TrimmedString,
  Uuid,
} from './parts.ts'

export const MAX_WEBHOOKS = 20

const DisabledReason = ['failed', 'gone', 'imported', 'restored'] as const

const Types = Type.Array(
  Type.String({
    ...TYPE,
    description: 'An activity type. Matches exactly.',
    examples: ['task.completed'],
  }),
  {
    maxItems: 50,
    description: 'The types of activity that are sent. Empty for all types.',
  },
)
const Name = TrimmedString(100, {
  description: 'A name, 1 to 100 characters after trimming.',
  examples: ['Chat'],
})
const Url = Type.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://',
  maxLength: 2_048,
  description:
    'The URL that is sent to: https, with a public address. `WEBHOOK_ALLOW_HOSTS` allows other hosts.',
  examples: ['https://hooks.example.com/inlet'],
})
const IsActive = Type.Boolean({
  description: 'Whether changes are sent. What changes while it is switched off is not sent later.',
})

const webhook = {
  id: Uuid('The ID of the webhook.'),
  name: Type.String({ description: 'The name.' }),
  url: Type.String({ description: 'The URL that is sent to.' }),
  types: Types,
  projectId: Nullable(
    Uuid('Only activity about this project is sent, or null for all projects and the whole service.'),
  ),
  isActive: IsActive,
  disabledReason: Nullable(
    StringEnum([...DisabledReason], {
      description:
        'Why Inlet switched the webhook off: `failed` after the last attempt, `gone` after a 410 response, `imported` and `restored` because the database was. Null if it is active, or was switched off by a user.',
    }),
  ),
  nextAttemptAt: Nullable(
    DateTime('After a failure, when the oldest delivery is sent again; otherwise null.'),
  ),
  createdAt: DateTime('When the webhook was created.'),
}

export const Webhook = Type.Object(webhook, {
  $id: 'OutgoingWebhook',
  description: 'An outgoing webhook: a URL that changes are sent to.',
})
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({
      description: 'The secret that deliveries are signed with. It is only returned once.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
  },
  { $id: 'OutgoingWebhookWithSecret', description: 'An outgoing webhook with its new secret.' },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const WebhookPage = PageOf(ref(Webhook), { description: 'A page of outgoing webhooks.' })

export const NewWebhook = StrictObject(
  {
    name: Name,
    url: Url,
    types: Type.Optional({ ...Types, default: [] }),
    projectId: Type.Optional(
      Nullable(
        Uuid(
          'Sends only activity about this project. Defaults to the project that you can access, if it is only one, otherwise to null.',
        ),
      ),
    ),
    isActive: Type.Optional({ ...IsActive, default: true }),
  },
  { $id: 'NewOutgoingWebhook', description: 'The outgoing webhook to create.' },
)
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookChange = StrictObject(
  {
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    types: Type.Optional(Types),
    isActive: Type.Optional(IsActive),
  },
  { $id: 'OutgoingWebhookChange', description: 'The fields to update. Omitted fields keep their values.' },
)
export type WebhookChange = Static<typeof WebhookChange>

const WebhookDeliveryOutcome = ['pending', 'delivered', 'failed'] as const

export const WebhookDelivery = Type.Object(
  {
    id: Uuid('The ID of the delivery: the `webhook-id` of each attempt. IDs sort by time created.'),
    webhookId: Uuid('The webhook.'),
    type: Type.String({
      description: 'The type of activity, or `webhook.test`.',
      examples: ['task.created'],
    }),
    activityId: Nullable(Uuid('The activity, or null for a test.')),
    taskId: Nullable(Uuid('The task of the activity, or null. It may have been deleted since.')),
    taskTitle: Nullable(
      Type.String({
        description: 'The present title of the task. Null without a task, and if you can’t access it.',
      }),
    ),
    outcome: StringEnum([...WebhookDeliveryOutcome], {
      description:
        '`pending` has not been sent yet; `delivered` got a 2xx response; of `failed`, the last attempt failed. While the webhook is active, a failed delivery is sent again, except for a test.',
    }),
    attempts: Type.Integer({ description: 'The number of attempts.' }),
    responseStatus: Nullable(Type.Integer({ description: 'The status of the last response, or null.' })),
    responseBody: Nullable(
      Type.String({
        description:
          'The first 1,000 characters of the last response, if the attempt failed; otherwise null.',
      }),
    ),
    error: Nullable(Type.String({ description: 'Why the last attempt failed, or null.' })),
    durationMs: Nullable(
      Type.Integer({ description: 'The duration of the last attempt in milliseconds, or null.' }),
    ),
    createdAt: DateTime('When the delivery was created.'),
    lastAttemptAt: Nullable(DateTime('When the last attempt ended, or null.')),
    finishedAt: Nullable(DateTime('When it was delivered, or null. It is kept for 7 more days.')),
  },
  { $id: 'OutgoingDelivery', description: 'A delivery to an outgoing webhook.' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryPage = PageOf(ref(WebhookDelivery), { description: 'A page of deliveries.' })

export const WebhookDeliveryQuery = StrictObject(
  {
    outcome: Type.Optional(
      StringEnum([...WebhookDeliveryOutcome], { description: 'Only deliveries with this outcome.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type WebhookDeliveryQuery = Static<typeof WebhookDeliveryQuery>

export const WebhookDeliveryPath = StrictObject(
  { id: Uuid('The ID of the webhook.'), deliveryId: Uuid('The ID of the delivery.') },
  { description: 'Path parameters.' },
)
export type WebhookDeliveryPath = Static<typeof WebhookDeliveryPath>
