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

export const GetRulesInput = StrictObject({}, { description: 'Nothing.' })

const { isActive: _, ...newRule } = NewRule.properties
export const CreateRuleInput = StrictObject(newRule, { description: 'The rule to make.' })
export type CreateRuleInput = Static<typeof CreateRuleInput>

export const UpdateRuleInput = change('rule', RuleChange.properties)
export type UpdateRuleInput = Static<typeof UpdateRuleInput>

const { fields: __, deleted: _______, ...listing } = TaskQuery.properties
export const ListTasksInput = StrictObject(listing, { description: 'Filters, order and page.' })
export type ListTasksInput = Static<typeof ListTasksInput>

export const GetTaskInput = StrictObject(
  { id: Uuid('Identifier of the task.') },
  { description: 'Which task.' },
)
export type GetTaskInput = Static<typeof GetTaskInput>

const { source: ___, metadata: ____, ...newTask } = NewTask.properties
export const CreateTaskInput = StrictObject(newTask, { description: 'The task to make.' })
export type CreateTaskInput = Static<typeof CreateTaskInput>

const { metadata: _____, ...taskChange } = TaskChange.properties
export const UpdateTaskInput = change('task', taskChange)
export type UpdateTaskInput = Static<typeof UpdateTaskInput>

const { metadata: ______, ...shownOfTask } = Task.properties
export const AssistantTask = Type.Object(
  { notice: Notice, ...shownOfTask },
  { description: 'A task as assistants get it: without metadata.' },
)
export type AssistantTask = Static<typeof AssistantTask>

export const WrittenAssistantTask = Type.Object(
  {
    ...Type.Partial(AssistantTask).properties,
    id: AssistantTask.properties.id,
    version: AssistantTask.properties.version,
  },
  { description: 'The task; `id` and `version` alone for a key without tasks:read.' },
)
export type WrittenAssistantTask = Static<typeof WrittenAssistantTask>

export const AssistantTaskPage = Type.Object(
  {
    notice: Notice,
    data: Type.Array(ref(TaskBrief), {
      maxItems: 200,
      description: 'The tasks of this page, in the order asked for.',
    }),
    nextCursor: Nullable(
      Type.String({ description: 'Pass as `cursor` for the next page; null at the end.' }),
    ),
  },
  { description: 'A page of tasks, without their long texts; get_task answers one whole.' },
)
export type AssistantTaskPage = Static<typeof AssistantTaskPage>

function change<T extends TProperties>(what: string, properties: T) {
  return StrictObject(
    { id: Uuid(`Identifier of the ${what}.`), ...properties },
    { description: `Which ${what}, and at least one thing to change.`, minProperties: 2 },
  )
}
