import { type Static, Type } from '@sinclair/typebox'
import { DeliveryTask } from './delivery.ts'
import { FeedbackReceipt } from './feedback.ts'
import { Nullable, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { NewSource } from './source.ts'
import { TaskPriority } from './task.ts'

export const SourceReceipt = Type.Object(
  {
    accepted: Type.Literal(true, { description: 'Always true: the delivery has tasks.' }),
    deliveryId: Uuid('The ID of the delivery.'),
    taskId: Uuid('The first of its tasks.'),
    tasks: Type.Array(ref(DeliveryTask), {
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
        description: 'Which items made no task, and which values were omitted. Absent if there are none.',
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
      description: 'Always `pending`. `GET /api/deliveries/{deliveryId}` says what becomes of it.',
    }),
    deliveryId: Uuid('The ID of the delivery.'),
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
              'The task that would be updated: the one with this external ID, or that the delivery has made. Null if one would be created.',
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
        'Why it would be rejected; or which items would make no task, and which values would be omitted.',
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
    deliveryId: Type.Optional(Uuid('A delivery of the source. Its payload is used.')),
  },
  { $id: 'SourcePayloadTest', description: 'A payload, or a delivery whose payload is used.' },
)
export type SourcePayloadTest = Static<typeof SourcePayloadTest>
