import { type Static, Type } from '@sinclair/typebox'
import { Nullable, StringEnum, Uuid } from './parts.ts'
import { MatchedOn } from './routing.ts'

export const FEEDBACK_SUBMITTED = 'feedback_submitted'

export const Sentiment = ['loved', 'meh', 'frustrated'] as const
export type Sentiment = (typeof Sentiment)[number]

/** Up to the maximum size of a delivery. */
const text = (description: string, ...examples: string[]) =>
  Type.String({ maxLength: 2 * 1024 * 1024, description, examples })
const optional = (description: string, ...examples: string[]) =>
  Type.Optional(Nullable(text(description, ...examples)))

const Properties = Type.Object(
  {
    sentiment: StringEnum([...Sentiment], { description: 'The user’s sentiment.' }),
    trigger: text('What triggered the prompt.', 'manual'),
    app_version: text('The app version.', '2.3.1'),
    project_id: optional('The project, by ID or any name of yours. Used for routing.', 'mobile'),
    project_name: optional('The name of the project. Used for routing.', 'Mobile app'),
    app_id: optional('The web app. Used for routing.', 'app.example.com'),
    bundle_id: optional('The native app. Used for routing.', 'com.example.app'),
    note: optional('The user’s text.', 'The export button does nothing.'),
    surface: optional('The page or screen in the product.', 'web_app'),
    device_model: optional('The device.', 'Pixel 9'),
    is_pro_user: Type.Optional(
      Nullable(Type.Boolean({ description: 'Whether the user is a paying customer.' })),
    ),
    user_email: optional(
      'The user’s email address. It is stored only in the task’s metadata and with the delivery.',
    ),
  },
  { additionalProperties: true, description: 'The properties of the feedback. Unknown properties are kept.' },
)

/** The properties that Inlet interprets; all others are only stored. */
export const namedProperties: ReadonlySet<string> = new Set(Object.keys(Properties.properties))

const members = {
  uuid: Type.Optional(
    Nullable(
      text('The sender’s ID of the event. An event with the same ID creates no second task.', '0198f3a2'),
    ),
  ),
  event: text(
    'The name of the event. Only `feedback_submitted` creates a task; other events are ignored.',
    FEEDBACK_SUBMITTED,
  ),
  distinct_id: text('The ID of the user.', 'user-4711'),
  timestamp: text('When the event occurred, in ISO 8601 with an offset.', '2026-11-21T08:15:30.000Z'),
  properties: Properties,
}

/** For the API reference only: the receiver parses deliveries with `domain/feedback/event.ts`. */
export const WebhookEvent = Type.Union(
  [
    Type.Object(members, { additionalProperties: true, description: 'The flat format.' }),
    Type.Object(
      { event: Type.Object(members, { additionalProperties: true, description: 'The event.' }) },
      { additionalProperties: true, description: 'The analytics platform’s default format.' },
    ),
  ],
  { $id: 'FeedbackDelivery', description: 'A feedback event, either flat or nested in `event`.' },
)
export type WebhookEvent = Static<typeof WebhookEvent>

export const FeedbackReceipt = Type.Object(
  {
    accepted: Type.Literal(true, { description: 'Always true: the event has a task.' }),
    deliveryId: Uuid('The ID of the delivery.'),
    taskId: Uuid('The task created from the event.'),
    projectId: Uuid('The project of the task.'),
    listId: Uuid('The list of the task.'),
    duplicate: Type.Boolean({
      description: 'Whether the event was received before. Nothing was created in that case.',
    }),
    routing: Type.Object(
      {
        ruleId: Nullable(Uuid('The routing rule that matched, or null if none did.')),
        matchedOn: StringEnum([...MatchedOn], { description: 'What the routing is based on.' }),
      },
      { description: 'Why the task went there.' },
    ),
  },
  { $id: 'FeedbackReceipt', description: 'An accepted event.' },
)
export type FeedbackReceipt = Static<typeof FeedbackReceipt>

export const FeedbackIgnored = Type.Object(
  {
    accepted: Type.Literal(false, { description: 'Always false: no task was created.' }),
    reason: StringEnum(['event_ignored'], {
      description: 'Always `event_ignored`: the name isn’t `feedback_submitted`.',
    }),
  },
  {
    $id: 'FeedbackIgnored',
    description: 'An ignored event. Don’t send it again.',
  },
)
export type FeedbackIgnored = Static<typeof FeedbackIgnored>
