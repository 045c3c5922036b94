import { type TProperties, Type } from '@sinclair/typebox'
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

/** The same values with these descriptions, or none. */
const described = <T extends TProperties>(properties: T, words: { [Name in keyof T]?: string } = {}): T =>
  // Cast: only the descriptions are others.
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, { ...schema, description: words[name] }]),
  ) as T

export const GetContextInput = toolInput(
  described(Type.Omit(ContextRequest, ['includeArchived']).properties, {
    projectId: 'Adds the rules of this project, and only its lists and tasks.',
    paths: 'Files you work on: adds the rules about them.',
    budgetTokens: 'Size limit, in tokens of 4 bytes.',
  }),
)

export const GetRulesInput = toolInput({})

export const CreateRuleInput = toolInput(
  described(Type.Omit(NewRule, ['isActive']).properties, {
    content: 'Markdown, up to 8,000 characters.',
    priority: 'Higher comes first.',
    projectId: 'Omit it for all projects.',
    paths: 'Globs of the files that it is about.',
  }),
)

export const UpdateRuleInput = change({ id: Uuid(''), ...described(RuleChange.properties) })

/** So many lines have at most 4,000 characters. */
export const LINES_OF_PAGE = 20

const query = TaskQuery.properties
export const ListTasksInput = toolInput(
  described(
    {
      q: query.q,
      projectId: query.projectId,
      listId: query.listId,
      status: query.status,
      priority: query.priority,
      label: query.label,
      assignee: query.assignee,
      source: query.source,
      isReady: query.isReady,
      claimed: query.claimed,
      triaged: query.triaged,
      snoozed: query.snoozed,
      needsAnswer: query.needsAnswer,
      updatedSince: query.updatedSince,
      sort: query.sort,
      limit: { ...query.limit, default: LINES_OF_PAGE },
      cursor: query.cursor,
    },
    {
      q: 'Words in the title, description, labels, or external ID; "a phrase"; #12.',
      label: 'none: without labels.',
      isReady: 'Open, and not claimed, snoozed, blocked by other tasks, or in need of an answer.',
      triaged: 'false: nobody has decided about it yet.',
      snoozed: 'false: without those that are put off.',
      cursor: 'The nextCursor of the page before, with the same filters.',
    },
  ),
)

/** About a tenth of a small window. */
export const BUDGET_OF_TASK = 4_000

const { budgetTokens } = ContextRequest.properties
export const GetTaskInput = toolInput({
  id: Uuid(''),
  ...described({ budgetTokens: { ...budgetTokens, default: BUDGET_OF_TASK } }),
})

export const CreateTaskInput = toolInput(
  described(Type.Omit(NewTask, ['source', 'metadata', 'triaged', 'snoozedUntil']).properties, {
    title: 'Up to 500 characters.',
    description: 'Markdown.',
    blockedBy: 'Tasks that have to be done first.',
  }),
  { 'x-advice': LIST_DECIDES },
)

export const UpdateTaskInput = change({
  id: Uuid(''),
  version: Type.Optional(Type.Integer({ minimum: 1 })),
  ...described(Type.Omit(TaskPatch, ['metadata', 'question']).properties, {
    closedReason: 'With status done.',
    notes: 'The team’s own text, replaced as a whole.',
    labels: 'Replaces all labels.',
  }),
  mergeInto: Type.Optional(Uuid('Without other changes: makes it a report of that task.')),
  unmerge: Type.Optional(Type.Boolean()),
})

const { number } = ClaimRenewal.properties
export const ClaimTaskInput = toolInput({
  action: Type.Optional(StringEnum(['claim', 'renew', 'release'], { default: 'claim', description: '' })),
  id: Type.Optional(Uuid('Omit it for the next ready task.')),
  claimNumber: Type.Optional({ ...number, description: 'For renew and release.' }),
  ...described(NextClaim.properties),
})

export const AddCommentInput = toolInput({
  id: Uuid('The task.'),
  ...described(NewComment.properties, { body: 'Markdown.' }),
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
