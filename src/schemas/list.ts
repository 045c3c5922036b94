import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'

const Name = TrimmedString(100, 'What people call it. 1 to 100 characters after trimming.', ['Next release'])

const Position = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, description, examples: [0] })

export const List = Type.Object(
  {
    id: Uuid('Identifier of the list.'),
    projectId: Uuid('The project it belongs to.'),
    name: Type.String({ description: 'What people call it.' }),
    position: Type.Integer({ description: 'Its place among the lists of its project, from 0.' }),
    isDefault: Type.Boolean({
      description: 'True for the one that takes tasks which name no list. It can be renamed, not deleted.',
    }),
    openCount: Type.Integer({ description: 'How many of its tasks are not done.' }),
    createdAt: DateTime('When it was made.'),
  },
  { $id: 'List', description: 'An ordered place for tasks inside a project.' },
)
export type List = Static<typeof List>

export const ListPage = PageOf(ref(List), 'A page of lists.')

export const NewList = StrictObject(
  {
    name: Name,
    position: Type.Optional(
      Position('Its place; the lists from there on move up by one. Left out, or past the end: last.'),
    ),
  },
  { $id: 'NewList', description: 'A list to be made.' },
)
export type NewList = Static<typeof NewList>

export const ListChange = StrictObject(
  {
    name: Type.Optional(Name),
    position: Type.Optional(
      Position('The place to move it to; the others close ranks. Past the end is the end.'),
    ),
  },
  { $id: 'ListChange', description: 'What is to change; what is left out stays.' },
)
export type ListChange = Static<typeof ListChange>

export const ListQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'The page.' },
)
export type ListQuery = Static<typeof ListQuery>

export const ListRemoval = StrictObject(
  {
    moveTo: Type.Optional(
      Uuid('The list of the same project that takes the tasks. Needed when there are any.'),
    ),
  },
  { description: 'What becomes of the tasks.' },
)
