import { type Static, Type } from '@sinclair/typebox'
import { DateTime } from './parts.ts'
import type { Actor } from './task.ts'

export const Claim = Type.Object(
  {
    by: Type.Unsafe<Actor>({ $ref: 'Actor#' }),
    number: Type.Integer({
      description:
        'The number of the claim. It increases with each claim of the task, and proves that yours is still valid.',
    }),
    expiresAt: DateTime('When the claim ends unless it is renewed, by the clock of the database.'),
  },
  { description: 'Who works on the task, and until when.' },
)
export type Claim = Static<typeof Claim>
