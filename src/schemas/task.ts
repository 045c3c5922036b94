import { type Static, Type } from '@sinclair/typebox'
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
  TrimmedString,
  Uuid,
} from './parts.ts'

const TaskStatus = ['open', 'in_progress', 'done'] as const

export const TaskPriority = ['low', 'medium', 'high'] as const
export type TaskPriority = (typeof TaskPriority)[number]

export const TaskSource = ['api', 'codehost', 'analytics', 'dashboard', 'assistant'] as const
export type TaskSource = (typeof TaskSource)[number]

export const TaskSort = ['-createdAt', 'createdAt', '-updatedAt', 'updatedAt', '-priority'] as const
export type TaskSort = (typeof TaskSort)[number]

export const ActorType = ['key', 'session', 'assistant', 'analytics', 'codehost', 'system'] as const
export type ActorType = (typeof ActorType)[number]

const Status = (description: string) => StringEnum([...TaskStatus], { description })
const Priority = (description: string) => StringEnum([...TaskPriority], { description })
const Source = (description: string) => StringEnum([...TaskSource], { description })

const Title = TrimmedString(500, 'What is to be done, in one line. 1 to 500 characters after trimming.', [
  'Crash when saving a draft',
])
const Description = Type.String({
  maxLength: 65_536,
  description: 'The whole story, as Markdown. Up to 65,536 characters.',
  examples: ['Steps: open a draft, press save.'],
})
const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'Your own identifier for it. A second create with the same one in the same project and source answers the first task.',
  examples: ['sentry-4711'],
})
const ExternalUrl = Type.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://',
  maxLength: 2048,
  description: 'Where it can be seen in the system it came from. http or https.',
  examples: ['https://bugs.example.com/4711'],
})
const Labels = Type.Array(TrimmedString(100, 'A label.', ['crash']), {
  maxItems: 20,
  description: 'Free labels, at most 20.',
})
const Assignees = Type.Array(TrimmedString(100, 'A name.', ['ada']), {
  maxItems: 20,
  description: 'Who works on it, at most 20 names.',
})
const Notes = Type.String({
  maxLength: 65_536,
  description: 'What the team writes about it. Always editable, whatever the source.',
})

export const Actor = Type.Object(
  {
    type: StringEnum([...ActorType], { description: 'What kind of caller it was.' }),
    id: Nullable(Uuid('Identifier of the key or connection; null where there is none.')),
    name: Type.String({ description: 'Its name at that time.' }),
  },
  { $id: 'Actor', description: 'Who did it.' },
)
export type Actor = Static<typeof Actor>

const brief = {
  id: Uuid('Identifier of the task.'),
  title: Type.String({ description: 'What is to be done, in one line.' }),
  descriptionReadOnly: Type.Boolean({
    description:
      'True for the sources api, codehost and analytics: the dashboard and assistants leave it as it came.',
  }),
  status: Status('Where the work stands.'),
  priority: Priority('How urgent it is.'),
  source: Source('What made the task.'),
  projectId: Uuid('The project the task belongs to.'),
  listId: Uuid('The list the task is in.'),
  externalId: Nullable(Type.String({ description: 'The identifier its sender gave it.' })),
  externalUrl: Nullable(Type.String({ description: 'Where it can be seen in the system it came from.' })),
  labels: Type.Array(Type.String(), { maxItems: 20, description: 'Labels.' }),
  assignees: Type.Array(Type.String(), { maxItems: 20, description: 'Who works on it.' }),
  codehostIssueNumber: Nullable(Type.Integer({ description: 'Set on tasks that track an issue.' })),
  codehostPrNumber: Nullable(Type.Integer({ description: 'Set on tasks that track a pull request.' })),
  closedReason: Nullable(
    StringEnum(['completed', 'not_planned', 'duplicate', 'merged', 'closed_unmerged'], {
      description: 'Why the code host closed it; null while it is open there.',
    }),
  ),
  sourceState: StringEnum(['present', 'transferred', 'deleted'], {
    description: 'Whether what the task came from is still where it was.',
  }),
  createdBy: ref(Actor),
  createdAt: DateTime('When the task was made here.'),
  updatedAt: DateTime('When it last changed.'),
  completedAt: Nullable(DateTime('When it was done; null otherwise.')),
  version: Type.Integer({ description: 'Grows by one with each change; the ETag.' }),
}
const long = {
  description: Nullable(Type.String({ description: 'The whole story, as Markdown.' })),
  notes: Nullable(Type.String({ description: 'What the team writes about it.' })),
  metadata: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'What its sender attached.',
  }),
}

export const Task = Type.Object({ ...brief, ...long }, { $id: 'Task', description: 'Something to be done.' })
export type Task = Static<typeof Task>

export const WrittenTask = Type.Object(
  { ...Type.Partial(Type.Object({ ...brief, ...long })).properties, id: brief.id, version: brief.version },
  {
    $id: 'WrittenTask',
    description: 'A task as writes return it: whole with `tasks:read`, otherwise `id` and `version` alone.',
  },
)
export type WrittenTask = Static<typeof WrittenTask>

export const TaskListItem = Type.Object(
  {
    ...brief,
    description: Type.Optional(long.description),
    notes: Type.Optional(long.notes),
    metadata: Type.Optional(long.metadata),
  },
  {
    $id: 'TaskListItem',
    description: 'A task as lists answer it: with `fields=summary` without description, notes and metadata.',
  },
)
export type TaskListItem = Static<typeof TaskListItem>

export const TaskPage = PageOf(ref(TaskListItem), 'A page of tasks.')

/** The fields of a task in a batch; a single create also accepts the list. */
const taskContent = {
  title: Title,
  description: Type.Optional(Nullable(Description)),
  source: Type.Optional(
    StringEnum(['api'], { description: 'May be left out. The service sets the source by who calls.' }),
  ),
  priority: Type.Optional(
    StringEnum([...TaskPriority], { description: 'How urgent it is.', default: 'medium' }),
  ),
  externalId: Type.Optional(Nullable(ExternalId)),
  externalUrl: Type.Optional(Nullable(ExternalUrl)),
  labels: Type.Optional(Labels),
  assignees: Type.Optional(Assignees),
  metadata: Type.Optional(Metadata),
}

export const NewTask = StrictObject(
  {
    ...taskContent,
    listId: Type.Optional(
      Uuid('The list to put it in. Left out: the default list of your key’s project, else of "Inbox".'),
    ),
  },
  { $id: 'NewTask', description: 'A task to be made.' },
)
export type NewTask = Static<typeof NewTask>

export const NewTaskInBulk = StrictObject(taskContent, {
  $id: 'NewTaskInBulk',
  description: 'One task of a batch.',
})
export type NewTaskInBulk = Static<typeof NewTaskInBulk>

export const TaskChange = StrictObject(
  {
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(Description)),
    status: Type.Optional(Status('Entering done sets completedAt, leaving it clears it.')),
    priority: Type.Optional(Priority('How urgent it is.')),
    listId: Type.Optional(Uuid('The list to move it to, in any project you may write to.')),
    labels: Type.Optional(Labels),
    assignees: Type.Optional(Assignees),
    externalUrl: Type.Optional(Nullable(ExternalUrl)),
    notes: Type.Optional(Nullable(Notes)),
    metadata: Type.Optional(Metadata),
  },
  { $id: 'TaskChange', description: 'What is to change; what is left out stays.' },
)
export type TaskChange = Static<typeof TaskChange>

export const TaskQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only tasks of this project.')),
    listId: Type.Optional(Uuid('Only tasks of this list.')),
    status: Type.Optional(QueryArray(Status('A status.'), 'Only tasks with this status.')),
    source: Type.Optional(QueryArray(Source('A source.'), 'Only tasks from this source.')),
    priority: Type.Optional(QueryArray(Priority('A priority.'), 'Only tasks of this priority.')),
    label: Type.Optional(
      QueryArray(Type.String({ minLength: 1, maxLength: 100 }), 'Only tasks with this label, in any case.'),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Only tasks with this text in the title or in the first 1,000 characters of the description, in any case.',
      }),
    ),
    updatedSince: Type.Optional(DateTime('Only tasks changed at or after this time.')),
    codehostPrNumber: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'Only the task of this pull request.',
      }),
    ),
    includeArchived: Type.Optional(
      Type.Boolean({
        description:
          'True: also tasks of archived projects, which are left out where neither a project nor a list is named.',
        default: false,
      }),
    ),
    deleted: Type.Optional(
      Type.Boolean({
        description:
          'True: only tasks that were deleted in the last 30 days, which can be restored. Sorts by `updatedAt` then go by the time of deletion.',
        default: false,
      }),
    ),
    fields: Type.Optional(
      StringEnum(['summary', 'all'], {
        description: '`summary` leaves out description, notes and metadata.',
        default: 'all',
      }),
    ),
    sort: Type.Optional(
      StringEnum([...TaskSort], {
        description:
          'A leading minus is descending. Left out: `-createdAt`; with `deleted=true` `-updatedAt`, the newest deletion first.',
      }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters, order and page.' },
)
export type TaskQuery = Static<typeof TaskQuery>
