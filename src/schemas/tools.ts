import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { NewComment } from './comment.ts'
import { ContextRequest, Notice, TaskBrief } from './context.ts'
import { DateTime, Nullable, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { NewRule, RuleChange } from './rule.ts'
import { ActorType, NewTask, Task, TaskChange } from './task.ts'
import { TaskQuery } from './task-query.ts'

/*
 * Input and output of the AI tools, built from the same schemas as REST. Fields without use for an assistant are
 * omitted, and `metadata` always: it holds what senders attached, users' addresses included.
 */

export const GetContextInput = ContextRequest
export type GetContextInput = Static<typeof GetContextInput>

export const GetRulesInput = StrictObject({}, { description: 'No input.' })

const { properties: newRule } = Type.Omit(NewRule, ['isActive'])
export const CreateRuleInput = StrictObject(newRule, { description: 'The rule to create.' })
export type CreateRuleInput = Static<typeof CreateRuleInput>

export const UpdateRuleInput = change('rule', RuleChange.properties)
export type UpdateRuleInput = Static<typeof UpdateRuleInput>

const { properties: listing } = Type.Omit(TaskQuery, ['fields', 'deleted', 'count', 'kind', 'createdSince'])
export const ListTasksInput = StrictObject(listing, { description: 'Filters, sort order and pagination.' })
export type ListTasksInput = Static<typeof ListTasksInput>

export const GetTaskInput = StrictObject(
  { id: Uuid('The ID of the task.') },
  { description: 'The task to return.' },
)
export type GetTaskInput = Static<typeof GetTaskInput>

const { properties: newComment } = NewComment
export const AddCommentInput = StrictObject(
  { id: Uuid('The ID of the task.'), ...newComment },
  { description: 'The task, and the comment.' },
)
export type AddCommentInput = Static<typeof AddCommentInput>

export const AddedComment = Type.Object(
  { id: Uuid('The ID of the comment.') },
  { description: 'The created comment.' },
)

const { properties: newTask } = Type.Omit(NewTask, ['source', 'metadata'])
export const CreateTaskInput = StrictObject(newTask, { description: 'The task to create.' })
export type CreateTaskInput = Static<typeof CreateTaskInput>

const { properties: taskChange } = Type.Omit(TaskChange, ['metadata'])
export const UpdateTaskInput = change('task', taskChange)
export type UpdateTaskInput = Static<typeof UpdateTaskInput>

const { properties: shownOfTask } = Type.Omit(Task, ['metadata'])
const AssistantTask = Type.Object(
  { notice: Notice, ...shownOfTask },
  { description: 'A task, without its metadata.' },
)

/** How many comments `get_task` returns, and how much of each. */
export const LATEST_COMMENTS = 20
export const MAX_BODY_LENGTH = 4_000

const AssistantComment = Type.Object(
  {
    id: Uuid('The ID of the comment.'),
    author: Type.String({ description: 'The name of the author.' }),
    authorType: StringEnum([...ActorType], { description: 'The type of author.' }),
    createdAt: DateTime('When the comment was written.'),
    body: Type.String({ description: 'The text, at most its first 4,000 characters.' }),
    isCut: Type.Boolean({ description: 'Whether the text is longer.' }),
  },
  { description: 'A comment.' },
)
export type AssistantComment = Static<typeof AssistantComment>

/** How many reports and similar tasks `get_task` returns. */
export const LATEST_REPORTS = 5

const AssistantReport = Type.Object(
  {
    id: AssistantTask.properties.id,
    title: AssistantTask.properties.title,
    openedAt: AssistantTask.properties.openedAt,
  },
  { description: 'A report.' },
)

const SimilarToTask = Type.Object(
  {
    id: AssistantTask.properties.id,
    title: AssistantTask.properties.title,
    status: AssistantTask.properties.status,
    similarity: Type.Number({ description: 'From 0 to 1.' }),
  },
  { description: 'A similar task.' },
)

export const AssistantTaskWithComments = Type.Object(
  {
    ...AssistantTask.properties,
    comments: Type.Array(AssistantComment, {
      maxItems: LATEST_COMMENTS,
      description:
        'The latest comments, oldest first: at most 20, and 16,000 characters. `commentCount` counts all.',
    }),
    latestReports: Type.Array(AssistantReport, {
      maxItems: LATEST_REPORTS,
      description: 'The newest tasks that are merged into this one.',
    }),
    similar: Type.Array(SimilarToTask, {
      maxItems: LATEST_REPORTS,
      description: 'Tasks that may be about the same, unless this one is done.',
    }),
  },
  { description: 'A task, without its metadata, its latest comments and reports, and similar tasks.' },
)

export const WrittenAssistantTask = Type.Object(
  {
    ...Type.Partial(AssistantTask).properties,
    id: AssistantTask.properties.id,
    version: AssistantTask.properties.version,
  },
  { description: 'The task. Keys without `tasks:read` only get `id` and `version`.' },
)
export type WrittenAssistantTask = Static<typeof WrittenAssistantTask>

export const AssistantTaskPage = Type.Object(
  {
    notice: Notice,
    data: Type.Array(ref(TaskBrief), {
      maxItems: 200,
      description: 'The tasks of this page, in the requested order.',
    }),
    nextCursor: Nullable(
      Type.String({ description: 'Pass it as `cursor` to get the next page. Null on the last page.' }),
    ),
  },
  { description: 'A page of tasks, without their descriptions and notes. get_task returns a whole task.' },
)
export type AssistantTaskPage = Static<typeof AssistantTaskPage>

function change<T extends TProperties>(what: string, properties: T) {
  return StrictObject(
    { id: Uuid(`The ID of the ${what}.`), ...properties },
    { description: `The ${what}, and at least one field to update.`, minProperties: 2 },
  )
}
