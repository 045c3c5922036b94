import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { MatchedOn } from './routing.ts'

const DropReason = [
  'event_ignored',
  'action_ignored',
  'other_repository',
  'comments_off',
  'project_archived',
] as const

/** For the API reference only: `domain/codehost/delivery.ts` reads deliveries. */
export const PushDelivery = Type.Object(
  {
    action: Type.Optional(
      Type.String({ description: 'What happened, depending on the event.', examples: ['opened'] }),
    ),
  },
  {
    $id: 'CodehostDeliveryPayload',
    additionalProperties: true,
    description: 'A delivery as the code host documents it, as JSON or as a form with it in `payload`.',
  },
)

export const PushReceipt = Type.Object(
  {
    accepted: Type.Boolean({ description: 'False if the delivery is ignored.' }),
    duplicate: Type.Boolean({
      description: 'Whether the delivery was received before. Nothing happens in that case.',
    }),
    reason: Nullable(
      StringEnum([...DropReason], { description: 'Why the delivery is ignored, or null if it is not.' }),
    ),
  },
  { $id: 'CodehostDeliveryReceipt', description: 'A received delivery.' },
)
export type PushReceipt = Static<typeof PushReceipt>

export const DeliveryReceiver = ['feedback', 'source', 'codehost'] as const
export const DeliveryOutcome = [
  'accepted',
  'updated',
  'ignored',
  'filtered',
  'rejected',
  'pending',
  'failed',
] as const

export const DeliveryTask = Type.Object(
  {
    taskId: Uuid('The task. It may have been deleted since.'),
    created: Type.Boolean({ description: 'Whether it was created; otherwise it existed already.' }),
  },
  { $id: 'DeliveryTask', description: 'A task of a delivery.' },
)

const delivery = {
  id: Uuid('The ID of the delivery. IDs sort by time received.'),
  receiver: StringEnum([...DeliveryReceiver], {
    description:
      'What reads it: `feedback`, also at a source whose mapping is `feedback`; the templates of a `source`; or what applies changes of the `codehost`.',
  }),
  sourceId: Nullable(
    Uuid('The source that it arrived at, or null. It may have been deleted since, if it was feedback.'),
  ),
  projectId: Nullable(
    Uuid('The project of its tasks, its source, or its repository; null if there is none.'),
  ),
  senderId: Nullable(
    Type.String({
      description:
        'The sender’s ID of it, cut if it is long, or null. A delivery that is sent again has the same.',
    }),
  ),
  title: Nullable(
    Type.String({
      description:
        'Of feedback: its sentiment and the beginning of its note, or the name of the event. Of other receivers, where the payload is no longer stored or is longer than 32 KiB, and without the scope `admin`, it is the title of the first of its tasks, or null if there is none in reach.',
      examples: ['Frustrated: The export button does nothing.'],
    }),
  ),
  number: Nullable(
    Type.Integer({
      description: 'The number of the issue or pull request that the code host reports about, or null.',
    }),
  ),
  event: Nullable(
    Type.String({
      description: 'What the code host reports, or null for other receivers.',
      examples: ['issues.closed'],
    }),
  ),
  outcome: StringEnum([...DeliveryOutcome], {
    description:
      'What became of it. `accepted`: it created tasks, or needs none. `updated`: its tasks existed before. `ignored`: it is about something that is not used. `filtered`: the filter of the source leaves it out. `rejected`: it is invalid. `pending`: it is processed later, by itself. `failed`: it was tried too often.',
  }),
  reason: Nullable(
    Type.String({
      description:
        'Of the code host: why it was ignored or failed, or is tried again; or why it changed nothing: `outdated`, `unchanged`, or `deleted_here`. Null otherwise.',
    }),
  ),
  duplicates: Type.Integer({
    description: 'How often it was received again. Of the code host, this is not counted.',
  }),
  attempts: Type.Integer({ description: 'The number of failed attempts.' }),
  receivedAt: DateTime('When it was received.'),
  tasks: Type.Array(ref(DeliveryTask), { maxItems: 500, description: 'Its tasks.' }),
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
      { description: 'Of feedback that has a task: why it is in its project.' },
    ),
  ),
  errors: Nullable(
    Type.Array(ref(FieldError), {
      maxItems: 100,
      description:
        'Why it was rejected; of other deliveries of sources, which items made no task, and which values were omitted.',
    }),
  ),
  hasPayload: Type.Boolean({ description: 'Whether its payload is still stored, which a replay needs.' }),
}

export const Delivery = Type.Object(delivery, {
  $id: 'Delivery',
  description: 'Something that arrived at a receiver.',
})
export type Delivery = Static<typeof Delivery>

export const DeliveryWithPayload = Type.Object(
  {
    ...delivery,
    payload: Type.Optional(
      Type.Unsafe<unknown>({
        description:
          'The received payload: JSON, or the beginning of its text if `payloadCut` is true. Null after 30 days, and where nothing could be done with it. Only for the scope `admin`.',
      }),
    ),
    payloadCut: Type.Optional(
      Type.Boolean({
        description: 'Whether the payload is longer than 256 KiB and is cut. Only for the scope `admin`.',
      }),
    ),
  },
  { $id: 'DeliveryWithPayload', description: 'A delivery, with its payload for the scope `admin`.' },
)
export type DeliveryWithPayload = Static<typeof DeliveryWithPayload>

export const DeliveryPage = PageOf(ref(Delivery), { description: 'A page of deliveries.' })

export const DeliveryQuery = StrictObject(
  {
    receiver: Type.Optional(
      StringEnum([...DeliveryReceiver], { description: 'Only deliveries to this receiver.' }),
    ),
    sourceId: Type.Optional(Uuid('Only deliveries that arrived at this source.')),
    projectId: Type.Optional(Uuid('Only deliveries of this project.')),
    senderId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Only deliveries to which the sender gave exactly this ID.',
      }),
    ),
    outcome: Type.Optional(
      StringEnum([...DeliveryOutcome], { description: 'Only deliveries with this outcome.' }),
    ),
    since: Type.Optional(DateTime('Only deliveries that were received then or later.')),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>
