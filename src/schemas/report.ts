import { type Static, Type } from '@sinclair/typebox'
import { Cursor, Limit, ref, StrictObject, Uuid } from './parts.ts'
import { TaskListItem } from './task.ts'
import { TaskQuery } from './task-query.ts'

export const Merge = StrictObject(
  { into: Uuid('The task of the same project that this task is a report of.') },
  { $id: 'Merge', description: 'The task to merge into.' },
)
export type Merge = Static<typeof Merge>

export const ReportQuery = StrictObject(
  {
    fields: TaskQuery.properties.fields,
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Fields and pagination.' },
)
export type ReportQuery = Static<typeof ReportQuery>

export const SimilarQuery = StrictObject(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'The maximum number of results.' }),
    ),
  },
  { description: 'The number of results.' },
)
export type SimilarQuery = Static<typeof SimilarQuery>

export const SimilarTasks = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          task: ref(TaskListItem),
          similarity: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'How similar the texts are: 1 means that they have the same words.',
          }),
        },
        { description: 'A similar task.' },
      ),
      { maxItems: 50, description: 'The similar tasks, most similar first, without long fields.' },
    ),
    unavailable: Type.Boolean({
      description: 'True if similar tasks can’t be found, because the database doesn’t have pg_trgm.',
    }),
  },
  { $id: 'SimilarTasks', description: 'The tasks that resemble a task.' },
)
export type SimilarTasks = Static<typeof SimilarTasks>
