import { type Static, Type } from '@sinclair/typebox'
import { Claim } from './claim.ts'
import { DateTime, Nullable, PageOf, ref, StringEnum, Uuid } from './parts.ts'

const TaskStatus = ['open', 'in_progress', 'done'] as const

export const TaskPriority = ['low', 'medium', 'high'] as const
export type TaskPriority = (typeof TaskPriority)[number]

export const TaskSource = ['api', 'codehost', 'analytics', 'dashboard', 'assistant', 'webhook'] as const
export type TaskSource = (typeof TaskSource)[number]

export const ActorType = ['key', 'session', 'user', 'assistant', 'analytics', 'codehost', 'system'] as const
export type ActorType = (typeof ActorType)[number]

export const Status = (description: string) => StringEnum([...TaskStatus], { description })
export const Priority = (description: string) => StringEnum([...TaskPriority], { description })
export const Source = (description: string) => StringEnum([...TaskSource], { description })

export const Actor = Type.Object(
  {
    type: StringEnum([...ActorType], { description: 'The type of actor.' }),
    id: Nullable(Uuid('The ID of the key, person or connection, or null if there is none.')),
    name: Type.String({ description: 'The name of the actor at that time.' }),
  },
  { $id: 'Actor', description: 'The actor of a change.' },
)
export type Actor = Static<typeof Actor>

const brief = {
  id: Uuid('The ID of the task.'),
  title: Type.String({ description: 'The title.' }),
  descriptionReadOnly: Type.Boolean({
    description:
      'Whether the description is read-only in the dashboard and for assistants. True for the sources `api`, `codehost` and `analytics`.',
  }),
  status: Status('The status.'),
  priority: Priority('The priority.'),
  source: Source('The source that the task was created from.'),
  sourceId: Nullable(
    Uuid('The source of `/api/sources` that created the task, or null if `source` isn’t `webhook`.'),
  ),
  projectId: Uuid('The project that the task belongs to.'),
  listId: Uuid('The list that the task is in.'),
  externalId: Nullable(Type.String({ description: 'The external ID that the task was created with.' })),
  externalUrl: Nullable(Type.String({ description: 'The URL of the task in its source system.' })),
  labels: Type.Array(Type.String(), { maxItems: 20, description: 'The labels.' }),
  assignees: Type.Array(Type.String(), { maxItems: 20, description: 'The assignees.' }),
  codehostIssueNumber: Nullable(
    Type.Integer({ description: 'The issue number, if the task tracks an issue.' }),
  ),
  codehostPrNumber: Nullable(
    Type.Integer({ description: 'The pull request number, if the task tracks a pull request.' }),
  ),
  closedReason: Nullable(
    StringEnum(['completed', 'not_planned', 'duplicate', 'merged', 'closed_unmerged'], {
      description:
        'Why the task is done, if somebody said so, or why its issue or pull request was closed. `duplicate` for any task that is merged into another.',
    }),
  ),
  sourceState: StringEnum(['present', 'transferred', 'deleted'], {
    description: 'Whether the issue or pull request still exists at the code host.',
  }),
  commentCount: Type.Integer({
    description: 'The number of comments. It changes without a new version of the task.',
  }),
  mergedInto: Nullable(
    Uuid('The task that this task is a report of, or null if it isn’t merged into another one.'),
  ),
  reports: Type.Integer({
    description:
      'How often this was reported: 1, and 1 for each task that is merged into it. It changes without a new version of the task.',
  }),
  noteKey: Nullable(
    Type.String({
      description:
        'Tasks of a project with the same key are feedback with the same note, apart from case, space, and punctuation. Null for other tasks, and for short notes.',
    }),
  ),
  blockedBy: Type.Array(Type.String(), {
    maxItems: 20,
    description:
      'The IDs of the tasks that have to be done before this one. Those that are done, deleted, or moved to another project don’t block it.',
  }),
  isReady: Type.Boolean({
    description:
      'Whether work on it can begin: it is open and not snoozed, nobody has claimed it, it has no `question`, no other task blocks it, and its project isn’t archived. It changes without a new version of the task.',
  }),
  triaged: Type.Boolean({
    description:
      'Whether somebody has decided about it: accepted it, changed its status, priority, list, labels or assignees, commented on it, claimed it, or merged it. Tasks that arrive from other systems are not triaged, unless triage is off in their project. A task that is done counts as triaged. A comment changes it without a new version of the task.',
  }),
  snoozedUntil: Nullable(
    DateTime(
      'When the task is to be triaged again. Until then, work on it can’t begin. Null if it isn’t snoozed.',
    ),
  ),
  question: Nullable(
    Type.Object(
      {
        commentId: Uuid('The comment that asks.'),
        askedBy: Type.Object(Actor.properties, { description: 'Who asked.' }),
        askedAt: DateTime('When it was asked.'),
      },
      {
        description:
          'What has to be answered before work on it can begin, or null. It ends when anybody but an assistant comments, when its comment is deleted, and when the task is done.',
      },
    ),
  ),
  writeBack: Nullable(
    Type.Object(
      {
        state: StringEnum(['pending', 'done', 'dropped', 'failed'], {
          description:
            '`pending` is still to be written, or written again after a temporary problem. `done` is written. `dropped` was given up because the issue was changed, moved, or deleted there. `failed` could not be written: it is retried once the credentials have access again, or on request.',
        }),
        error: Nullable(
          Type.Object(
            {
              code: Type.String({ description: 'A code for programs.' }),
              message: Type.String({ description: 'A message for people.' }),
            },
            { description: 'Why it failed, is retried, or was dropped, or null.' },
          ),
        ),
        nextAttemptAt: Type.Optional(
          DateTime('When it is tried again. Only while it waits for that after a failed attempt.'),
        ),
      },
      {
        description:
          'The state of what was changed here and has to be written to the code host, or null if there never was anything. It changes without a new version of the task.',
      },
    ),
  ),
  claim: Nullable({
    ...Claim,
    description: 'Who works on the task, and until when, or null if nobody has claimed it.',
  }),
  author: Nullable(
    Type.Object(
      {
        name: Type.String({ description: 'The user name.' }),
        url: Nullable(Type.String({ description: 'The URL of the user’s profile.' })),
      },
      { description: 'Who opened the issue or pull request at the code host, or null if unknown.' },
    ),
  ),
  isDraft: Nullable(
    Type.Boolean({ description: 'Whether the pull request is a draft, or null for other tasks.' }),
  ),
  createdBy: ref(Actor),
  createdAt: DateTime('When the task was created in Inlet.'),
  openedAt: DateTime(
    'When the task was opened where it came from: at the code host, or when the feedback was given. Otherwise the same as `createdAt`.',
  ),
  updatedAt: DateTime('When the task was last updated.'),
  completedAt: Nullable(
    DateTime(
      'When the task was completed, or null if it isn’t done. For an issue or pull request, when it was closed at the code host.',
    ),
  ),
  version: Type.Integer({
    description: 'The version, which is also the ETag. It increases by one with each change.',
  }),
}
const long = {
  description: Nullable(Type.String({ description: 'The description in Markdown.' })),
  notes: Nullable(Type.String({ description: 'The team’s notes in Markdown.' })),
  metadata: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'Data attached by the creator.',
  }),
}

export const Task = Type.Object({ ...brief, ...long }, { $id: 'Task', description: 'A task.' })
export type Task = Static<typeof Task>

export const WrittenTask = Type.Object(
  { ...Type.Partial(Type.Object({ ...brief, ...long })).properties, id: brief.id, version: brief.version },
  {
    $id: 'WrittenTask',
    description: 'A written task. Keys without `tasks:read` only get `id` and `version`.',
  },
)
export type WrittenTask = Static<typeof WrittenTask>

export const WrittenTaskSummary = Type.Object(
  { ...Type.Partial(Type.Object(brief)).properties, id: brief.id, version: brief.version },
  {
    $id: 'WrittenTaskSummary',
    description:
      'A task that was written together with others, without its description, notes and metadata. Keys without `tasks:read` only get `id` and `version`.',
  },
)
export type WrittenTaskSummary = Static<typeof WrittenTaskSummary>

export const TaskListItem = Type.Object(
  {
    ...brief,
    description: Type.Optional(long.description),
    notes: Type.Optional(long.notes),
    metadata: Type.Optional(long.metadata),
  },
  {
    $id: 'TaskListItem',
    description: 'A task in a list. `fields=summary` omits the description, notes and metadata.',
  },
)
export type TaskListItem = Static<typeof TaskListItem>

const { properties: pageOfTasks } = PageOf(ref(TaskListItem), { description: '' })
export const TaskPage = Type.Object(
  {
    ...pageOfTasks,
    total: Type.Optional(
      Type.Integer({
        maximum: 10_000,
        description: 'With `count=true`, the number of tasks on all pages, up to 10,000.',
      }),
    ),
    totalIsExact: Type.Optional(
      Type.Boolean({
        description: 'With `count=true`, whether `total` is exact. If false, there may be more.',
      }),
    ),
  },
  { description: 'A page of tasks.' },
)
