import { type Static, Type } from '@sinclair/typebox'
import { RESERVED_ACTIVITY_PREFIXES } from './formats.ts'
import {
  Cursor,
  DateTime,
  Limit,
  Metadata,
  Nullable,
  PageOf,
  QueryArray,
  ref,
  StrictObject,
  StringEnum,
  Uuid,
} from './parts.ts'
import { Actor } from './task.ts'

export const TYPE = {
  pattern: '^[a-z0-9._-]{1,64}$',
  'x-words': '1 to 64 characters of a-z, 0-9, dot, underscore and hyphen',
}

export const Activity = Type.Object(
  {
    id: Uuid('The ID of the activity. IDs sort by creation time.'),
    type: Type.String({
      description: 'The type of activity.',
      examples: ['task.created', 'deploy.finished'],
    }),
    message: Nullable(Type.String({ description: 'A message for people.' })),
    taskId: Nullable(Uuid('The related task. It may have been deleted since.')),
    projectId: Nullable(Uuid('The related project, or null if the activity concerns the whole service.')),
    actor: ref(Actor),
    metadata: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Additional data. For `task.updated` and other changes, the changed fields with their old and new values.',
    }),
    createdAt: DateTime('When the activity was logged.'),
  },
  { $id: 'Activity', description: 'An activity: what happened, and who did it.' },
)
export type Activity = Static<typeof Activity>

export const ActivityPage = PageOf(ref(Activity), { description: 'A page of activities.' })

const RESERVED = RESERVED_ACTIVITY_PREFIXES.map((prefix) => `\`${prefix}\``)

export const NewActivity = StrictObject(
  {
    type: Type.String({
      ...TYPE,
      format: 'activity-type',
      description: `A type of your own: 1 to 64 characters of a-z, 0-9, dot, underscore and hyphen. Types that begin with ${RESERVED.slice(0, -1).join(', ')} or ${RESERVED.at(-1)} are reserved.`,
      examples: ['deploy.finished'],
    }),
    message: Type.Optional(
      Nullable(
        Type.String({ maxLength: 4_000, description: 'A message for people, up to 4,000 characters.' }),
      ),
    ),
    taskId: Type.Optional(Nullable(Uuid('The related task.'))),
    projectId: Type.Optional(
      Nullable(
        Uuid(
          'The related project. Defaults to the task’s project, or else to the project that you can access, if it is only one.',
        ),
      ),
    ),
    metadata: Type.Optional(Metadata),
  },
  { $id: 'NewActivity', description: 'An activity to log.' },
)
export type NewActivity = Static<typeof NewActivity>

export const ActivityQuery = StrictObject(
  {
    taskId: Type.Optional(Uuid('Only activity about this task. It may have been deleted since.')),
    projectId: Type.Optional(Uuid('Only activity about this project.')),
    type: Type.Optional(
      QueryArray(
        Type.String({
          ...TYPE,
          description: 'An activity type. Matches exactly.',
          examples: ['task.completed'],
        }),
        'Only activity of this type.',
      ),
    ),
    actorId: Type.Optional(Uuid('Only activity of this person, or of this key and its sessions.')),
    since: Type.Optional(DateTime('Only activity logged at or after this time.')),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type ActivityQuery = Static<typeof ActivityQuery>

export const StreamQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only activity about this project.')),
    bursts: Type.Optional(
      StringEnum(['each', 'summary'], {
        description:
          'With `summary`, one event `stream.burst` stands for many changes: when there are more than 50 in ten seconds, it is sent every two seconds instead of them. By default, each change is sent.',
      }),
    ),
  },
  { description: 'The activity to stream.' },
)

export const LastEventId = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      format: 'event-id',
      description:
        'The `id` of the last event you received: the stream continues exactly after it. The ID of an activity, which earlier versions sent as `id`, starts one minute before that activity: ignore the activities that you already have.',
    }),
  ),
})
