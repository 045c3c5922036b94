import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Metadata, Nullable, StrictObject, StringEnum, TrimmedString, Uuid } from './parts.ts'
import { Priority, Status, TaskPriority } from './task.ts'

/** Other services take the project of a task. */
export const LIST_DECIDES = {
  projectId: '`listId` decides the project.',
  project: '`listId` decides the project.',
}

const Title = TrimmedString(500, {
  description: 'The title, 1 to 500 characters after trimming.',
  examples: ['Crash when saving a draft'],
})
const Description = Type.String({
  maxLength: 65_536,
  description: 'The description in Markdown, up to 65,536 characters.',
  examples: ['Steps: open a draft, press save.'],
})
const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'Your own ID for the task. Creating another task with the same ID, project and source returns the existing task.',
  examples: ['sentry-4711'],
})
const ExternalUrl = Type.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://',
  maxLength: 2048,
  description: 'The http or https URL of the task in its source system.',
  examples: ['https://bugs.example.com/4711'],
})
const Labels = Type.Array(TrimmedString(100, { description: 'A label.', examples: ['crash'] }), {
  maxItems: 20,
  description: 'The labels, at most 20.',
})
const Assignees = Type.Array(TrimmedString(100, { description: 'A name.', examples: ['ada'] }), {
  maxItems: 20,
  description: 'The assignees, at most 20 names.',
})
const BlockedBy = Type.Array(Uuid('The ID of a task.'), {
  maxItems: 20,
  description:
    'The tasks that have to be done before this one, at most 20, all in the same project. Duplicates count once.',
})
const Notes = Type.String({
  maxLength: 65_536,
  description: 'The team’s notes in Markdown. Always editable, whatever the source.',
})

/** What a create and a change accept. */
const content = {
  description: Type.Optional(Nullable(Description)),
  externalUrl: Type.Optional(Nullable(ExternalUrl)),
  labels: Type.Optional(Labels),
  assignees: Type.Optional(Assignees),
  blockedBy: Type.Optional(BlockedBy),
  metadata: Type.Optional(Metadata),
  triaged: Type.Optional(
    Type.Boolean({
      description:
        'Whether somebody has decided about it. New tasks are triaged by default if they are created in the dashboard or by an assistant. Changing the status, priority, list, labels or assignees sets it, unless you send `false`. Without effect on a task that is done.',
    }),
  ),
  snoozedUntil: Type.Optional(
    Nullable(DateTime('When the task is to be triaged again, in the future. `null` ends the snooze.')),
  ),
}

/** The fields of a task in a batch; a single create also accepts the list. */
const taskContent = {
  title: Title,
  ...content,
  source: Type.Optional(
    StringEnum(['api'], { description: 'Optional. Inlet sets the source based on the caller.' }),
  ),
  // The service sets the default, so that an update tells a priority that was sent from none.
  priority: Type.Optional(
    StringEnum([...TaskPriority], { description: 'The priority. New tasks have `medium` by default.' }),
  ),
  externalId: Type.Optional(Nullable(ExternalId)),
}

export const NewTask = StrictObject(
  {
    ...taskContent,
    listId: Type.Optional(
      Uuid(
        'The list to create the task in. Defaults to the default list of the project that you can access, if it is only one, or else of the project "Inbox".',
      ),
    ),
  },
  { $id: 'NewTask', description: 'The task to create.', 'x-advice': LIST_DECIDES },
)
export type NewTask = Static<typeof NewTask>

/** What a create does with a task that has the same externalId already. */
export const existingMembers = {
  onExisting: Type.Optional(
    StringEnum(['return', 'update'], {
      description:
        'What to do with an existing task that has the same `externalId`, project and source. `return` leaves it unchanged. `update` sets the fields that are in the request.',
      default: 'return',
    }),
  ),
  reopen: Type.Optional(
    Type.Boolean({
      description: 'With `onExisting=update`, whether to open an existing task again that is done.',
      default: false,
    }),
  ),
}

export const CreateQuery = StrictObject(existingMembers, { description: 'What to do with an existing task.' })
export type CreateQuery = Static<typeof CreateQuery>

export const NewTaskInBulk = StrictObject(taskContent, {
  $id: 'NewTaskInBulk',
  description: 'A task in a bulk request.',
  'x-advice': LIST_DECIDES,
})
export type NewTaskInBulk = Static<typeof NewTaskInBulk>

export const TaskChange = StrictObject(
  {
    title: Type.Optional(Title),
    ...content,
    status: Type.Optional(Status('The status. `done` sets `completedAt`; any other status clears it.')),
    closedReason: Type.Optional(
      StringEnum(['completed', 'not_planned'], {
        description:
          'With `status` `done`, why it is done. With write-back, an issue is closed for this reason. Not for what is closed at the code host already.',
      }),
    ),
    priority: Type.Optional(Priority('The priority.')),
    listId: Type.Optional(
      Uuid(
        'The list to move the task to, in any project that you can write to. In another project, `blockedBy` is empty unless you set it.',
      ),
    ),
    notes: Type.Optional(Nullable(Notes)),
    question: Type.Optional(
      Nullable(
        StrictObject(
          { commentId: Uuid('A comment on the task.') },
          {
            description:
              '`null` ends the question without an answer. A comment of the task asks it again, unless the task is done.',
          },
        ),
      ),
    ),
  },
  {
    $id: 'TaskChange',
    description: 'The fields to update. Omitted fields keep their values.',
    'x-advice': LIST_DECIDES,
  },
)
export type TaskChange = Static<typeof TaskChange>
