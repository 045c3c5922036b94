import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

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

const DeliveryStatus = ['received', 'applied', 'dropped', 'failed'] as const

const delivery = {
  id: Uuid('The ID of the delivery in the inbox. IDs sort by time received.'),
  deliveryId: Type.String({
    description: 'The code host’s ID of the delivery (`X-GitHub-Delivery`). A redelivery has the same.',
  }),
  event: Type.String({ description: 'The name of the event.', examples: ['issues'] }),
  action: Nullable(Type.String({ description: 'What happened, or null.', examples: ['opened'] })),
  number: Nullable(Type.Integer({ description: 'The number of the issue or pull request, or null.' })),
  status: StringEnum([...DeliveryStatus], {
    description:
      'The outcome. `received` is not applied yet; `dropped` is ignored; `failed` is not retried by itself.',
  }),
  reason: Nullable(
    Type.String({
      description:
        'Why it was dropped or failed, or is retried. For an applied delivery, why it changed nothing: `outdated`, `unchanged` or `deleted_here`. Null otherwise.',
    }),
  ),
  attempts: Type.Integer({ description: 'The number of failed attempts.' }),
  taskId: Nullable(Uuid('The task of the issue or pull request, or null. It may have been deleted since.')),
  isReplayable: Type.Boolean({ description: 'Whether its payload is stored, so that it can be replayed.' }),
  payloadBytes: Type.Integer({ description: 'The size of the payload.' }),
  receivedAt: DateTime('When the delivery was received.'),
  appliedAt: Nullable(DateTime('When the delivery was applied, or null.')),
  nextAttemptAt: Nullable(
    DateTime(
      'When it is applied, or tried again, or null. A deletion in an archived project waits until it is unarchived.',
    ),
  ),
}

export const CodehostDelivery = Type.Object(delivery, {
  $id: 'CodehostDelivery',
  description: 'A delivery of the code host.',
})
export type CodehostDelivery = Static<typeof CodehostDelivery>

export const CodehostDeliveryWithPayload = Type.Object(
  {
    ...delivery,
    payload: Type.Unsafe<unknown>({
      description: 'The payload. Null if it is not stored, or larger than 256 KiB.',
    }),
  },
  { $id: 'CodehostDeliveryWithPayload', description: 'A delivery of the code host with its payload.' },
)

export const DeliveryPage = PageOf(ref(CodehostDelivery), { description: 'A page of deliveries.' })

export const DeliveryQuery = StrictObject(
  {
    status: Type.Optional(
      StringEnum([...DeliveryStatus], { description: 'Only deliveries with this status.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>

export const DeliveryPath = StrictObject(
  { projectId: Uuid('The ID of the project.'), id: Uuid('The ID of the delivery.') },
  { description: 'Path parameters.' },
)
