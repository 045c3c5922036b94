import { type Static, Type } from '@sinclair/typebox'
import { Nullable, PageOf, PageQuery, ref, StrictObject, Uuid } from './parts.ts'

export const TaskNameQuery = StrictObject(
  {
    projectId: Type.Optional(
      Uuid('Only names used in this project. Defaults to all projects that aren’t archived.'),
    ),
    q: Type.Optional(
      Type.String({ maxLength: 100, description: 'Only names that contain this text, ignoring case.' }),
    ),
    ...PageQuery.properties,
  },
  { description: 'Filters, and pagination.' },
)
export type TaskNameQuery = Static<typeof TaskNameQuery>

export const TaskName = Type.Object(
  {
    name: Type.String({ description: 'The name, as first written. Names ignore case.' }),
    openCount: Type.Integer({ description: 'The number of tasks with this name that aren’t done.' }),
    color: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^[0-9a-f]{6}$',
          'x-words': 'six hexadecimal digits',
          description: 'The color of the label at the code host, or null. Assignees have none.',
          examples: ['d73a4a'],
        }),
      ),
    ),
  },
  { $id: 'TaskName', description: 'A label or an assignee of tasks.' },
)
export type TaskName = Static<typeof TaskName>

/** The most used first. */
export const TaskNamePage = PageOf(ref(TaskName), {
  description:
    'A page of names used in tasks, by number of open tasks. Names that only done tasks have come last, with an `openCount` of 0.',
})
