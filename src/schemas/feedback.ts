import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { MatchedOn } from './routing.ts'

export const FEEDBACK_SUBMITTED = 'feedback_submitted'

export const Sentiment = ['loved', 'meh', 'frustrated'] as const
export type Sentiment = (typeof Sentiment)[number]

const FeedbackOutcome = ['accepted', 'ignored', 'rejected'] as const

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
      'The user’s email address. It is stored only in the task’s metadata and in the inbox.',
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
    eventId: Uuid('The ID of the event in the inbox.'),
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

export const InboxEvent = Type.Object(
  {
    id: Uuid('The ID of the event. IDs sort by time received.'),
    sourceId: Nullable(
      Uuid(
        'The source that it arrived at, or null for the feedback receiver. It may have been deleted since.',
      ),
    ),
    uuid: Nullable(Type.String({ description: 'The sender’s ID of the event, cut to 255 characters.' })),
    outcome: StringEnum([...FeedbackOutcome], { description: 'The outcome.' }),
    duplicates: Type.Integer({ description: 'The number of duplicates received.' }),
    receivedAt: DateTime('When the event was received.'),
    taskId: Nullable(Uuid('The task created from the event. It may have been deleted since.')),
    projectId: Nullable(Uuid('The project of the task.')),
    routing: Nullable(
      Type.Object(
        {
          ruleId: Nullable(Uuid('The routing rule that matched, or null if none did.')),
          ruleName: Nullable(
            Type.String({
              description: 'The name of the rule at that time, or what it matches if it has no name.',
            }),
          ),
          matchedOn: StringEnum([...MatchedOn], { description: 'What the routing is based on.' }),
          explanation: Type.String({ description: 'The decision as text.' }),
        },
        { description: 'Why the task went there.' },
      ),
    ),
    errors: Nullable(
      Type.Array(ref(FieldError), { maxItems: 100, description: 'Why the event was rejected.' }),
    ),
    payload: Type.Unsafe<unknown>({
      description:
        'The received payload, kept for 30 days: JSON, or the beginning of its text if `payloadCut` is true. Null for ignored events.',
    }),
    payloadCut: Type.Boolean({ description: 'Whether the payload was longer than 256 KiB and is cut.' }),
  },
  { $id: 'FeedbackEvent', description: 'A received feedback event.' },
)
export type InboxEvent = Static<typeof InboxEvent>

export const InboxEventPage = PageOf(ref(InboxEvent), { description: 'A page of feedback events.' })

export const InboxEventQuery = StrictObject(
  {
    sourceId: Type.Optional(Uuid('Only events that arrived at this source.')),
    outcome: Type.Optional(
      StringEnum([...FeedbackOutcome], { description: 'Only events with this outcome.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type InboxEventQuery = Static<typeof InboxEventQuery>
