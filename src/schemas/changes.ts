import { type Static, Type } from '@sinclair/typebox'
import { Activity, ActivityQuery } from './activity.ts'
import { Limit, ref, StrictObject, StringEnum } from './parts.ts'
import { Task } from './task.ts'

const CURSOR = { minLength: 1, maxLength: 1024, examples: ['n6RZ6u6KTKSJTtt34WA1XgAAAAAAAAAq'] }

export const ChangesQuery = StrictObject(
  {
    cursor: Type.Optional(
      Type.String({
        ...CURSOR,
        description:
          'The `nextCursor` of the previous response, or the `id` of an event of the stream. It is valid for any filters, and doesn’t expire. Without it, you get what changes from now on.',
      }),
    ),
    from: Type.Optional(
      StringEnum(['start'], {
        description: 'Without a cursor: `start` begins with the oldest activity. Ignored with a cursor.',
      }),
    ),
    projectId: ActivityQuery.properties.projectId,
    type: ActivityQuery.properties.type,
    include: Type.Optional(
      StringEnum(['task'], { description: '`task` adds the task of each activity as it is now.' }),
    ),
    limit: Type.Optional(Limit),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 60,
        default: 0,
        description:
          'How many seconds to wait for an activity if there is none. The response comes as soon as there is one.',
      }),
    ),
  },
  { description: 'Filters, and where to continue.' },
)
export type ChangesQuery = Static<typeof ChangesQuery>

export const Change = Type.Object(
  {
    ...Activity.properties,
    task: Type.Optional(
      Type.Unsafe<Task | null>({
        anyOf: [ref(Task), { type: 'null' }],
        description:
          'With `include=task`: the task as it is now, or null if the activity has none, it was deleted, or it was moved out of your reach.',
      }),
    ),
  },
  { $id: 'Change', description: 'An activity, with its task if you request it.' },
)

export const ChangePage = Type.Object(
  {
    data: Type.Array(ref(Change), {
      maxItems: 200,
      description: 'Activity after the cursor, in a fixed order.',
    }),
    nextCursor: Type.String({
      ...CURSOR,
      description: 'Pass it as `cursor` to continue. Store it once you have processed `data`.',
    }),
    hasMore: Type.Boolean({
      description:
        'Whether there may be more right now: request the next page at once. True even after an empty page if few activities match your filters.',
    }),
  },
  { description: 'Activity, and where to continue.' },
)
export type ChangePage = Static<typeof ChangePage>
