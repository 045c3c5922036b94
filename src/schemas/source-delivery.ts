import { type Static, Type } from '@sinclair/typebox'
import { FeedbackReceipt } from './feedback.ts'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { NewSource } from './source.ts'
import { TaskPriority } from './task.ts'

export const SourceTask = Type.Object(
  {
    taskId: Uuid('The task. It may have been deleted since.'),
    created: Type.Boolean({ description: 'Whether it was created; otherwise it existed already.' }),
  },
  { $id: 'SourceTask', description: 'A task of a delivery.' },
)

export const SourceReceipt = Type.Object(
  {
    accepted: Type.Literal(true, { description: 'Always true: the delivery has tasks.' }),
    eventId: Uuid('The ID of the delivery in the inbox.'),
    taskId: Uuid('The first of its tasks.'),
    tasks: Type.Array(ref(SourceTask), {
      maxItems: 500,
      description: 'All of its tasks, in the order of its items.',
    }),
    projectId: Uuid('The project of the tasks.'),
    listId: Uuid('The list of new tasks.'),
    duplicate: Type.Boolean({
      description: 'Whether the delivery was received before. Nothing happened in that case.',
    }),
    routing: Type.Optional(FeedbackReceipt.properties.routing),
    errors: Type.Optional(
      Type.Array(ref(FieldError), {
        maxItems: 100,
        description: 'Which items made no task, and which values were left out. Absent if there are none.',
      }),
    ),
  },
  { $id: 'SourceReceipt', description: 'An accepted delivery.' },
)
export type SourceReceipt = Static<typeof SourceReceipt>

export const SourceIgnored = Type.Object(
  {
    accepted: Type.Literal(false, { description: 'Always false: no task was created or updated.' }),
    reason: StringEnum(['filtered', 'event_ignored', 'project_archived'], {
      description:
        '`filtered`: the filter leaves it out, there are no items, or they complete tasks that don’t exist. `event_ignored`: the mapping is `feedback`, and the name of the event isn’t `feedback_submitted`. `project_archived`: replay it after unarchiving the project.',
    }),
  },
  { $id: 'SourceIgnored', description: 'A delivery without tasks. Don’t send it again.' },
)
export type SourceIgnored = Static<typeof SourceIgnored>

export const SourcePending = Type.Object(
  {
    accepted: Type.Literal(true, { description: 'Always true: the delivery is stored.' }),
    outcome: Type.Literal('pending', {
      description: 'Always `pending`. The inbox has what becomes of it, under `eventId`.',
    }),
    eventId: Uuid('The ID of the delivery in the inbox.'),
    duplicate: Type.Boolean({ description: 'Whether the delivery was received before.' }),
  },
  {
    $id: 'SourcePending',
    description:
      'A delivery that waits, because its source has used up its share of time. Don’t send it again.',
  },
)
export type SourcePending = Static<typeof SourcePending>

/** For the API reference only: `domain/sources/reading.ts` reads deliveries. */
export const SourceDelivery = Type.Object(
  {},
  {
    $id: 'SourceDelivery',
    additionalProperties: true,
    description: 'Any JSON, or a form with JSON in `payload`.',
  },
)

const SourceOutcome = ['accepted', 'filtered', 'rejected'] as const
const EventOutcome = [...SourceOutcome, 'pending'] as const

export const SourceEvent = Type.Object(
  {
    id: Uuid('The ID of the event. IDs sort by time received.'),
    sourceId: Uuid('The source.'),
    deliveryId: Nullable(Type.String({ description: 'The sender’s ID of the delivery, or null.' })),
    outcome: StringEnum([...EventOutcome], {
      description: 'The outcome. `pending` waits for its turn, and is processed by itself.',
    }),
    duplicates: Type.Integer({ description: 'The number of duplicates received.' }),
    receivedAt: DateTime('When the delivery was received.'),
    tasks: Type.Array(ref(SourceTask), { maxItems: 500, description: 'Its tasks.' }),
    errors: Nullable(
      Type.Array(ref(FieldError), {
        maxItems: 100,
        description:
          'Why it was rejected; of an accepted or filtered one, which items made no task, and which values were left out.',
      }),
    ),
    payload: Type.Unsafe<unknown>({
      description:
        'The received payload, kept for 30 days: JSON, or the beginning of its text if `payloadCut` is true.',
    }),
    payloadCut: Type.Boolean({ description: 'Whether the payload was longer than 256 KiB and is cut.' }),
  },
  { $id: 'SourceEvent', description: 'A delivery of a source.' },
)
export type SourceEvent = Static<typeof SourceEvent>

export const SourceEventPage = PageOf(ref(SourceEvent), { description: 'A page of deliveries.' })

export const SourceEventQuery = StrictObject(
  {
    outcome: Type.Optional(
      StringEnum([...EventOutcome], { description: 'Only deliveries with this outcome.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type SourceEventQuery = Static<typeof SourceEventQuery>

export const SourceEventPath = StrictObject(
  { id: Uuid('The ID of the source.'), eventId: Uuid('The ID of the event.') },
  { description: 'Path parameters.' },
)
export type SourceEventPath = Static<typeof SourceEventPath>

const RenderedTask = Type.Object(
  {
    title: Type.String({ description: 'The title.' }),
    description: Type.Optional(Nullable(Type.String({ description: 'The description.' }))),
    priority: Type.Optional(StringEnum([...TaskPriority], { description: 'The priority.' })),
    labels: Type.Optional(Type.Array(Type.String(), { maxItems: 20, description: 'The labels.' })),
    externalId: Type.Optional(Type.String({ description: 'The external ID.' })),
    externalUrl: Type.Optional(Nullable(Type.String({ description: 'The external URL.' }))),
    status: Type.Optional(StringEnum(['open', 'done'], { description: 'The status.' })),
  },
  {
    description:
      'What a delivery says about a task. Absent members keep their values; null and no labels empty them.',
  },
)
export type RenderedTask = Static<typeof RenderedTask>

export const SourceTestResult = Type.Object(
  {
    outcome: StringEnum([...SourceOutcome], { description: 'What a delivery of this payload would be.' }),
    tasks: Type.Array(
      Type.Object(
        {
          item: Type.Integer({ description: 'The position of the item in `each`, from 0.' }),
          task: RenderedTask,
          existingTaskId: Nullable(
            Uuid(
              'The task that would be updated: the one with this external ID, or that the event has made. Null if one would be created.',
            ),
          ),
          reopens: Type.Boolean({
            description:
              'Whether a task that is done would be open again: this one, or the one that it is merged into.',
          }),
          explanation: Type.String({ description: 'What would happen, as text.' }),
        },
        { description: 'A task.' },
      ),
      { maxItems: 500, description: 'The tasks that would be created or updated.' },
    ),
    filtered: Type.Integer({ description: 'How many items the filter leaves out.' }),
    errors: Type.Array(ref(FieldError), {
      maxItems: 100,
      description:
        'Why it would be rejected; or which items would make no task, and which values would be left out.',
    }),
  },
  { $id: 'SourceTestResult', description: 'What a payload would make.' },
)
export type SourceTestResult = Static<typeof SourceTestResult>

const { clears, each, filter, mapping, template } = NewSource.properties
const Payload = Type.Unsafe<unknown>({ description: 'The JSON that the sender would send.' })

export const SourceTest = StrictObject(
  {
    source: StrictObject(
      { mapping, each, filter, template, clears },
      { description: 'What decides which tasks a payload makes.' },
    ),
    payload: Payload,
  },
  { $id: 'SourceTest', description: 'A source that does not exist yet, and a payload.' },
)
export type SourceTest = Static<typeof SourceTest>

export const SourcePayloadTest = StrictObject(
  {
    payload: Type.Optional(Payload),
    eventId: Type.Optional(Uuid('An event of the inbox. Its payload is used.')),
  },
  { $id: 'SourcePayloadTest', description: 'A payload, or an event whose payload is used.' },
)
export type SourcePayloadTest = Static<typeof SourcePayloadTest>
