import { type Static, Type } from '@sinclair/typebox'
import { ref, StrictObject, Uuid } from './parts.ts'

/** More than a person looks through; `q` filters. */
export const MAX_TASK_NAMES = 100

export const TaskNameQuery = StrictObject(
  {
    projectId: Type.Optional(
      Uuid('Only what tasks of this project have. Left out: of all projects that are not archived.'),
    ),
    q: Type.Optional(
      Type.String({ maxLength: 100, description: 'Only names that contain this text, in any case.' }),
    ),
  },
  { description: 'Which names.' },
)
export type TaskNameQuery = Static<typeof TaskNameQuery>

export const TaskName = Type.Object(
  {
    name: Type.String({ description: 'As it was written first; in another case it is the same.' }),
    openCount: Type.Integer({ description: 'How many tasks that are not done have it.' }),
  },
  { $id: 'TaskName', description: 'A label or an assignee of tasks.' },
)

export const TaskNameList = Type.Object(
  {
    data: Type.Array(ref(TaskName), {
      maxItems: MAX_TASK_NAMES,
      description:
        'The 100 most used, by open tasks. Names that only done tasks have come last, with an `openCount` of 0.',
    }),
  },
  { description: 'Names that tasks have.' },
)
export type TaskNameList = Static<typeof TaskNameList>
