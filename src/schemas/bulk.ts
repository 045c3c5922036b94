import { type Static, Type } from '@sinclair/typebox'
import { ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { FieldError } from './problem.ts'
import { WrittenTaskSummary } from './task.ts'
import { existingMembers, NewTaskInBulk, TaskChange } from './task-requests.ts'

export const BulkTasks = StrictObject(
  {
    listId: Uuid('The list to create the tasks in.'),
    tasks: Type.Array(ref(NewTaskInBulk), {
      minItems: 1,
      maxItems: 100,
      // The route checks the items itself: with onError=continue an invalid item is part of the result and rejects
      // nothing.
      'x-items-by-route': true,
      description: 'The tasks to create: 1 to 100.',
    }),
  },
  { $id: 'BulkTasks', description: 'Tasks to create in one list.' },
)

export const BulkQuery = StrictObject(
  {
    onError: Type.Optional(
      StringEnum(['abort', 'continue'], {
        description:
          'What to do if an item is invalid. `abort` creates nothing. `continue` creates the valid items and returns the errors of the others.',
        default: 'abort',
      }),
    ),
    ...existingMembers,
  },
  { description: 'Error handling, and what to do with existing tasks.' },
)

const counts = {
  created: Type.Integer({ description: 'The number of tasks created.' }),
  existing: Type.Integer({
    description: 'The number of tasks that already existed, by `externalId`, and were not changed.',
  }),
  updated: Type.Optional(
    Type.Integer({
      description: 'The number of existing tasks that were changed, with `onExisting=update`.',
    }),
  ),
}

export const BulkCreated = Type.Object(
  {
    data: Type.Array(ref(WrittenTaskSummary), {
      maxItems: 100,
      description: 'The tasks, in the order of the request.',
    }),
    ...counts,
  },
  { $id: 'BulkCreated', description: 'The created and existing tasks.' },
)
export type BulkCreated = Static<typeof BulkCreated>

export const BulkItem = Type.Object(
  {
    index: Type.Integer({ description: 'The position in the request, starting at 0.' }),
    status: StringEnum(['created', 'existing', 'updated', 'failed'], {
      description:
        'The result for this item. `existing` and `updated` tasks have the same `externalId`; only `updated` ones were changed.',
    }),
    task: Type.Optional(ref(WrittenTaskSummary)),
    errors: Type.Optional(
      Type.Array(ref(FieldError), { maxItems: 100, description: 'The errors, if the item failed.' }),
    ),
  },
  { $id: 'BulkItem', description: 'The result for one item.' },
)
export type BulkItem = Static<typeof BulkItem>

export const BulkResults = Type.Object(
  {
    results: Type.Array(ref(BulkItem), {
      maxItems: 100,
      description: 'One result for each item, in the order of the request.',
    }),
    ...counts,
    failed: Type.Integer({ description: 'The number of items that failed.' }),
  },
  { $id: 'BulkResults', description: 'The result for each item.' },
)
export type BulkResults = Static<typeof BulkResults>

export const BulkChange = StrictObject(
  {
    ids: Type.Array(Uuid('The ID of a task.'), {
      minItems: 1,
      maxItems: 100,
      description: 'The tasks to update: 1 to 100. Duplicates count once.',
    }),
    change: ref(TaskChange),
  },
  { $id: 'BulkChange', description: 'One change for several tasks.' },
)

export const BulkChanged = Type.Object(
  {
    data: Type.Array(ref(WrittenTaskSummary), {
      maxItems: 100,
      description: 'The updated tasks, in the order of `ids`.',
    }),
    unchanged: Type.Integer({ description: 'The number of tasks that the change didn’t affect.' }),
  },
  { $id: 'BulkChanged', description: 'The result of a bulk update.' },
)
export type BulkChanged = Static<typeof BulkChanged>
