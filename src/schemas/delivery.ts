import { type Static, Type } from '@sinclair/typebox'
import { Nullable, StringEnum } from './parts.ts'

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
