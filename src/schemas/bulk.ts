import { type Static, Type } from '@sinclair/typebox'
import { ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { NewTaskInBulk, TaskChange, WrittenTask } from './task.ts'

export const BulkTasks = StrictObject(
  {
    listId: Uuid('The list all of them go to.'),
    tasks: Type.Array(ref(NewTaskInBulk), {
      minItems: 1,
      maxItems: 100,
      // The route checks the items itself: with onError=continue an invalid item is part of the result and rejects
      // nothing.
      'x-items-by-route': true,
      description: '1 to 100 tasks.',
    }),
  },
  { $id: 'BulkTasks', description: 'Many tasks for one list.' },
)

export const BulkQuery = StrictObject(
  {
    onError: Type.Optional(
      StringEnum(['abort', 'continue'], {
        description:
          '`abort`: one bad item and nothing is created. `continue`: the good ones are created, the bad ones answered with their mistakes.',
        default: 'abort',
      }),
    ),
  },
  { description: 'How to take a bad item.' },
)

const counts = {
  created: Type.Integer({ description: 'How many tasks were made.' }),
  existing: Type.Integer({ description: 'How many were here already, by externalId.' }),
}

export const BulkCreated = Type.Object(
  {
    data: Type.Array(ref(WrittenTask), {
      maxItems: 100,
      description: 'The tasks, in the order of the request.',
    }),
    ...counts,
  },
  { $id: 'BulkCreated', description: 'All of the batch, made or found.' },
)
export type BulkCreated = Static<typeof BulkCreated>

export const BulkItem = Type.Object(
  {
    index: Type.Integer({ description: 'Position in the request, from 0.' }),
    status: StringEnum(['created', 'existing', 'failed'], { description: 'What became of it.' }),
    task: Type.Optional(ref(WrittenTask)),
    errors: Type.Optional(
      Type.Array(ref(FieldError), { maxItems: 100, description: 'What is wrong with a failed item.' }),
    ),
  },
  { $id: 'BulkItem', description: 'What became of one item.' },
)
export type BulkItem = Static<typeof BulkItem>

export const BulkResults = Type.Object(
  {
    results: Type.Array(ref(BulkItem), {
      maxItems: 100,
      description: 'One entry an item, in the order of the request.',
    }),
    ...counts,
    failed: Type.Integer({ description: 'How many were refused.' }),
  },
  { $id: 'BulkResults', description: 'What became of each item of the batch.' },
)
export type BulkResults = Static<typeof BulkResults>

export const BulkChange = StrictObject(
  {
    ids: Type.Array(Uuid('A task.'), {
      minItems: 1,
      maxItems: 100,
      description: '1 to 100 tasks. One that is there twice counts once.',
    }),
    change: ref(TaskChange),
  },
  { $id: 'BulkChange', description: 'The same change for many tasks.' },
)

export const BulkChanged = Type.Object(
  {
    data: Type.Array(ref(WrittenTask), {
      maxItems: 100,
      description: 'The tasks as they are now, in the order of `ids`.',
    }),
    unchanged: Type.Integer({ description: 'How many of them were like this before.' }),
  },
  { $id: 'BulkChanged', description: 'All tasks of a bulk change.' },
)
export type BulkChanged = Static<typeof BulkChanged>
