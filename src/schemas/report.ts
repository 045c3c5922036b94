import { type Static, Type } from '@sinclair/typebox'
import { Cursor, Limit, StrictObject, StringEnum, Uuid } from './parts.ts'

export const Merge = StrictObject(
  { into: Uuid('The task of the same project that this task is a report of.') },
  { $id: 'Merge', description: 'The task to merge into.' },
)
export type Merge = Static<typeof Merge>

export const ReportQuery = StrictObject(
  {
    fields: Type.Optional(
      StringEnum(['summary', 'all'], {
        description: '`summary` omits the description, notes and metadata.',
        default: 'all',
      }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Fields and pagination.' },
)
export type ReportQuery = Static<typeof ReportQuery>
