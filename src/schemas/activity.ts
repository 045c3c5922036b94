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
  Uuid,
} from './parts.ts'
import { Actor } from './task.ts'

const TYPE = '^[a-z0-9._-]{1,64}$'

export const Activity = Type.Object(
  {
    id: Uuid('Identifier of the entry; later entries sort later.'),
    type: Type.String({ description: 'What happened.', examples: ['task.created', 'deploy.finished'] }),
    message: Nullable(Type.String({ description: 'What happened, in words.' })),
    taskId: Nullable(Uuid('The task it is about. It may be gone since.')),
    projectId: Nullable(Uuid('The project it is about; null when it is about the whole service.')),
    actor: ref(Actor),
    metadata: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'What belongs to it: for `task.updated` and other changes which fields changed, from what and to what.',
    }),
    createdAt: DateTime('When it happened.'),
  },
  { $id: 'Activity', description: 'One line of the record: what happened, and who did it.' },
)
export type Activity = Static<typeof Activity>

export const ActivityPage = PageOf(ref(Activity), 'A page of entries.')

const RESERVED = RESERVED_ACTIVITY_PREFIXES.map((prefix) => `\`${prefix}\``)

export const NewActivity = StrictObject(
  {
    type: Type.String({
      pattern: TYPE,
      format: 'activity-type',
      description: `What happened, in your own words: 1 to 64 of a-z, 0-9, dot, underscore and hyphen. Types beginning ${RESERVED.slice(0, -1).join(', ')} and ${RESERVED.at(-1)} are the service’s own.`,
      examples: ['deploy.finished'],
    }),
    message: Type.Optional(
      Nullable(Type.String({ maxLength: 4_000, description: 'What happened, up to 4,000 characters.' })),
    ),
    taskId: Type.Optional(Nullable(Uuid('The task it is about.'))),
    projectId: Type.Optional(
      Nullable(Uuid('The project it is about. Left out: the task’s, else the one your key is bound to.')),
    ),
    metadata: Type.Optional(Metadata),
  },
  { $id: 'NewActivity', description: 'An entry for the record.' },
)
export type NewActivity = Static<typeof NewActivity>

export const ActivityQuery = StrictObject(
  {
    taskId: Type.Optional(Uuid('Only what is about this task, which may have been deleted since.')),
    projectId: Type.Optional(Uuid('Only what is about this project.')),
    type: Type.Optional(
      QueryArray(
        Type.String({ pattern: TYPE, description: 'A type, whole.', examples: ['task.completed'] }),
        'Only entries of this type.',
      ),
    ),
    actorId: Type.Optional(Uuid('Only what this key did, through its sessions as well.')),
    since: Type.Optional(DateTime('Only what happened at or after this time.')),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and page.' },
)
export type ActivityQuery = Static<typeof ActivityQuery>

export const StreamQuery = StrictObject(
  { projectId: Type.Optional(Uuid('Only what is about this project.')) },
  { description: 'What to follow.' },
)

export const LastEventId = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The last entry you saw. The stream begins one minute before it, because entries are not written in the order of their ids: drop the ids you know.',
    }),
  ),
})
