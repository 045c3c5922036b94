import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { ClaimRenewal, NextClaim, TaskPatch } from './claim-requests.ts'
import { NewComment } from './comment.ts'
import { ContextRequest } from './context.ts'
import { StrictObject, StringEnum, Uuid } from './parts.ts'
import { NewRule, RuleChange } from './rule.ts'
import { TaskQuery } from './task-query.ts'
import { LIST_DECIDES, NewTask } from './task-requests.ts'

/*
 * Input of the AI tools. The values are those of REST. The descriptions are shorter, because every client loads all of
 * them in every session. Fields without use for an assistant are omitted, and `metadata` always: it holds what senders
 * attached, users' addresses included.
 */

/** The same values with another description, or none. */
const described = <T extends TSchema>(schema: T, description?: string): T => ({ ...schema, description })

/** The same for a list, whose items need no description. */
const describedList = <T extends TSchema & { items: TSchema }>(schema: T, description?: string): T =>
  described({ ...schema, items: described(schema.items) }, description)

const context = ContextRequest.properties
export const GetContextInput = toolInput({
  projectId: described(context.projectId, 'Adds the rules of this project, and only its lists and tasks.'),
  paths: describedList(context.paths, 'Files you work on: adds the rules about them.'),
  budgetTokens: described(context.budgetTokens, 'Size limit, in tokens of 4 bytes.'),
})

export const GetRulesInput = toolInput({})

export const CreateRuleInput = toolInput({
  content: described(NewRule.properties.content, 'Markdown, up to 8,000 characters.'),
  priority: described(NewRule.properties.priority, 'Higher comes first.'),
  projectId: described(NewRule.properties.projectId, 'Omit it for all projects.'),
  paths: describedList(NewRule.properties.paths, 'Globs of the files that it is about.'),
})

export const UpdateRuleInput = change({
  id: Uuid(''),
  content: described(RuleChange.properties.content),
  priority: described(RuleChange.properties.priority),
  isActive: described(RuleChange.properties.isActive),
  paths: describedList(RuleChange.properties.paths),
})

/** So many lines have at most 4,000 characters. */
export const LINES_OF_PAGE = 20

const query = TaskQuery.properties
export const ListTasksInput = toolInput({
  q: described(query.q, 'Words in the title, description, labels, or external ID; "a phrase"; #12.'),
  projectId: described(query.projectId),
  listId: described(query.listId),
  status: described(query.status),
  priority: described(query.priority),
  label: described(query.label, 'none: without labels.'),
  assignee: described(query.assignee),
  source: described(query.source),
  isReady: described(query.isReady, 'Open, not claimed, and not blocked by other tasks.'),
  claimed: described(query.claimed),
  updatedSince: described(query.updatedSince),
  sort: described(query.sort),
  limit: described({ ...query.limit, default: LINES_OF_PAGE }),
  cursor: described(query.cursor, 'The nextCursor of the page before, with the same filters.'),
})

/** About a tenth of a small window. */
export const BUDGET_OF_TASK = 4_000

export const GetTaskInput = toolInput({
  id: Uuid(''),
  budgetTokens: described({ ...context.budgetTokens, default: BUDGET_OF_TASK }),
})

const task = NewTask.properties
export const CreateTaskInput = toolInput(
  {
    title: described(task.title, 'Up to 500 characters.'),
    description: described(task.description, 'Markdown.'),
    priority: described(task.priority),
    listId: described(task.listId),
    labels: described(task.labels),
    assignees: described(task.assignees),
    blockedBy: described(task.blockedBy, 'Tasks that have to be done first.'),
    externalId: described(task.externalId),
    externalUrl: described(task.externalUrl),
  },
  { 'x-advice': LIST_DECIDES },
)

const taskChange = TaskPatch.properties
export const UpdateTaskInput = change({
  id: Uuid(''),
  version: Type.Optional(Type.Integer({ minimum: 1 })),
  claimNumber: described(taskChange.claimNumber),
  status: described(taskChange.status),
  closedReason: described(taskChange.closedReason, 'With status done.'),
  priority: described(taskChange.priority),
  title: described(taskChange.title),
  description: described(taskChange.description),
  notes: described(taskChange.notes, 'The team’s own text, replaced as a whole.'),
  listId: described(taskChange.listId),
  labels: described(taskChange.labels, 'Replaces all labels.'),
  assignees: described(taskChange.assignees),
  blockedBy: described(taskChange.blockedBy),
  externalUrl: described(taskChange.externalUrl),
  mergeInto: Type.Optional(Uuid('Without other changes: makes it a report of that task.')),
  unmerge: Type.Optional(Type.Boolean()),
})

const nextClaim = NextClaim.properties
export const ClaimTaskInput = toolInput({
  action: Type.Optional(StringEnum(['claim', 'renew', 'release'], { default: 'claim', description: '' })),
  id: Type.Optional(Uuid('Omit it for the next ready task.')),
  claimNumber: Type.Optional(described(ClaimRenewal.properties.number, 'For renew and release.')),
  leaseSeconds: described(nextClaim.leaseSeconds),
  projectId: described(nextClaim.projectId),
  listId: described(nextClaim.listId),
  label: described(nextClaim.label),
  source: described(nextClaim.source),
})

export const AddCommentInput = toolInput({
  id: Uuid('The task.'),
  body: described(NewComment.properties.body, 'Markdown.'),
  isPublic: described(NewComment.properties.isPublic),
})

function toolInput<T extends TProperties>(
  properties: T,
  options: Partial<Parameters<typeof StrictObject>[1]> = {},
) {
  return StrictObject(properties, { description: '', ...options })
}

/** The ID, and at least one field to change. */
function change<T extends TProperties>(properties: T) {
  return toolInput(properties, {
    minProperties: 2,
    'x-words': 'have only the id: pass what changes',
    'x-advice': LIST_DECIDES,
  })
}
