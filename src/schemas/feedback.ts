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
    sentiment: StringEnum([...Sentiment], { description: 'How the user feels.' }),
    trigger: text('Where the prompt came from.', 'manual'),
    app_version: text('The version of the app.', '2.3.1'),
    project_id: optional('For routing: a project, by its id or any name of yours.', 'mobile'),
    project_name: optional('For routing: a project, by name.', 'Mobile app'),
    app_id: optional('For routing: a web app.', 'app.example.com'),
    bundle_id: optional('For routing: a native app.', 'com.example.app'),
    note: optional('What the user wrote.', 'The export button does nothing.'),
    surface: optional('Where in the product it was.', 'web_app'),
    device_model: optional('The device.', 'Pixel 9'),
    is_pro_user: Type.Optional(Nullable(Type.Boolean({ description: 'Whether the user pays.' }))),
    user_email: optional('The user’s address. It stays in the task’s metadata and in the inbox.'),
  },
  { additionalProperties: true, description: 'What is known of the feedback; unknown ones are kept.' },
)

/** The properties that Inlet interprets; all others are only stored. */
export const namedProperties: ReadonlySet<string> = new Set(Object.keys(Properties.properties))

const members = {
  uuid: Type.Optional(
    Nullable(text('The sender’s identifier. The same one again makes no second task.', '0198f3a2')),
  ),
  event: text('Only `feedback_submitted` becomes a task; others are ignored.', FEEDBACK_SUBMITTED),
  distinct_id: text('Who it was.', 'user-4711'),
  timestamp: text('When it was: ISO 8601 with an offset.', '2026-11-21T08:15:30.000Z'),
  properties: Properties,
}

/** For the API reference only: the receiver parses deliveries with `domain/feedback/event.ts`. */
export const WebhookEvent = Type.Union(
  [
    Type.Object(members, { additionalProperties: true, description: 'The flat form.' }),
    Type.Object(
      { event: Type.Object(members, { additionalProperties: true, description: 'The event.' }) },
      { additionalProperties: true, description: 'The analytics platform’s default form.' },
    ),
  ],
  { $id: 'FeedbackDelivery', description: 'Feedback, flat or with everything inside `event`.' },
)
export type WebhookEvent = Static<typeof WebhookEvent>

export const FeedbackReceipt = Type.Object(
  {
    accepted: Type.Literal(true, { description: 'It is a task.' }),
    eventId: Uuid('Its entry in the inbox.'),
    taskId: Uuid('The task it became.'),
    projectId: Uuid('The project the task went to.'),
    listId: Uuid('The list the task went to.'),
    duplicate: Type.Boolean({ description: 'True when it had come before: nothing was made now.' }),
    routing: Type.Object(
      {
        ruleId: Nullable(Uuid('The rule that decided; null when none did.')),
        matchedOn: StringEnum([...MatchedOn], { description: 'What decided.' }),
      },
      { description: 'Why it went there.' },
    ),
  },
  { $id: 'FeedbackReceipt', description: 'Feedback that is a task.' },
)
export type FeedbackReceipt = Static<typeof FeedbackReceipt>

export const FeedbackIgnored = Type.Object(
  {
    accepted: Type.Literal(false, { description: 'It is no task.' }),
    reason: StringEnum(['event_ignored'], { description: 'Its name is not `feedback_submitted`.' }),
  },
  {
    $id: 'FeedbackIgnored',
    description: 'An event of another name: nothing to be done, nothing to be sent again.',
  },
)
export type FeedbackIgnored = Static<typeof FeedbackIgnored>

export const InboxEvent = Type.Object(
  {
    id: Uuid('Identifier of the entry; later entries sort later.'),
    uuid: Nullable(Type.String({ description: 'The sender’s identifier, its first 255 characters.' })),
    outcome: StringEnum([...FeedbackOutcome], { description: 'What became of it.' }),
    duplicates: Type.Integer({ description: 'How often it came again.' }),
    receivedAt: DateTime('When it came.'),
    taskId: Nullable(Uuid('The task it became. It may be gone since.')),
    projectId: Nullable(Uuid('The project the task went to.')),
    routing: Nullable(
      Type.Object(
        {
          ruleId: Nullable(Uuid('The rule that decided; null when none did.')),
          ruleName: Nullable(
            Type.String({ description: 'Its name at that time; what it matches, where it has none.' }),
          ),
          matchedOn: StringEnum([...MatchedOn], { description: 'What decided.' }),
          explanation: Type.String({ description: 'The decision in words.' }),
        },
        { description: 'Why it went there.' },
      ),
    ),
    errors: Nullable(Type.Array(ref(FieldError), { maxItems: 100, description: 'Why it was rejected.' })),
    payload: Type.Unsafe<unknown>({
      description:
        'What was sent, for 30 days: JSON, or where `payloadCut` says so the beginning of its text. Null for ignored ones.',
    }),
    payloadCut: Type.Boolean({ description: 'Whether it was longer than 256 KiB.' }),
  },
  { $id: 'FeedbackEvent', description: 'One entry of the feedback inbox.' },
)
export type InboxEvent = Static<typeof InboxEvent>

export const InboxEventPage = PageOf(ref(InboxEvent), 'A page of the inbox.')

export const InboxEventQuery = StrictObject(
  {
    outcome: Type.Optional(StringEnum([...FeedbackOutcome], { description: 'Only what became this.' })),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filter and page.' },
)
export type InboxEventQuery = Static<typeof InboxEventQuery>
