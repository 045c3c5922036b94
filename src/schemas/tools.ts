import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { ContextRequest, Notice, TaskBrief } from './context.ts'
import { Nullable, ref, StrictObject, Uuid } from './parts.ts'
import { NewRule, RuleChange } from './rule.ts'
import { NewTask, Task, TaskChange, TaskQuery } from './task.ts'

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

const { properties: listing } = Type.Omit(TaskQuery, ['fields', 'deleted'])
export const ListTasksInput = StrictObject(listing, { description: 'Filters, sort order and pagination.' })
export type ListTasksInput = Static<typeof ListTasksInput>

export const GetTaskInput = StrictObject(
  { id: Uuid('The ID of the task.') },
  { description: 'The task to return.' },
)
export type GetTaskInput = Static<typeof GetTaskInput>

const { properties: newTask } = Type.Omit(NewTask, ['source', 'metadata'])
export const CreateTaskInput = StrictObject(newTask, { description: 'The task to create.' })
export type CreateTaskInput = Static<typeof CreateTaskInput>

const { properties: taskChange } = Type.Omit(TaskChange, ['metadata'])
export const UpdateTaskInput = change('task', taskChange)
export type UpdateTaskInput = Static<typeof UpdateTaskInput>

const { properties: shownOfTask } = Type.Omit(Task, ['metadata'])
export const AssistantTask = Type.Object(
  { notice: Notice, ...shownOfTask },
  { description: 'A task, without its metadata.' },
)
export type AssistantTask = Static<typeof AssistantTask>

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
