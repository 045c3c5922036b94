import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'

const Name = TrimmedString(100, {
  description: 'The name, 1 to 100 characters after trimming.',
  examples: ['Next release'],
})

const Position = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, description, examples: [0] })

export const List = Type.Object(
  {
    id: Uuid('The ID of the list.'),
    projectId: Uuid('The project that the list belongs to.'),
    name: Type.String({ description: 'The name of the list.' }),
    position: Type.Integer({ description: 'The position in the project, starting at 0.' }),
    isDefault: Type.Boolean({
      description:
        'Whether this is the default list of its project, which takes tasks created without a list. It can be renamed, but not deleted.',
    }),
    openCount: Type.Integer({ description: 'The number of tasks that aren’t done, also snoozed ones.' }),
    createdAt: DateTime('When the list was created.'),
  },
  { $id: 'List', description: 'An ordered place for tasks inside a project.' },
)
export type List = Static<typeof List>

export const ListPage = PageOf(ref(List), { description: 'A page of lists.' })

export const NewList = StrictObject(
  {
    name: Name,
    position: Type.Optional(
      Position('The position. Lists from there on move back by one. Defaults to the end.'),
    ),
  },
  { $id: 'NewList', description: 'The list to create.' },
)
export type NewList = Static<typeof NewList>

export const ListChange = StrictObject(
  {
    name: Type.Optional(Name),
    position: Type.Optional(Position('The position to move the list to. The other lists are renumbered.')),
  },
  { $id: 'ListChange', description: 'The fields to update. Omitted fields keep their values.' },
)
export type ListChange = Static<typeof ListChange>

export const ListQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'Pagination.' },
)
export type ListQuery = Static<typeof ListQuery>

export const ListRemoval = StrictObject(
  {
    moveTo: Type.Optional(
      Uuid('The list of the same project to move the tasks to. Required if the list has tasks.'),
    ),
  },
  { description: 'What to do with the tasks.' },
)
