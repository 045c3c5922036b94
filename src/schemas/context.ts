import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, QueryArray, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { Rule } from './rule.ts'
import { TaskListItem } from './task.ts'

/** Maximum of recent tasks and of lists in a context. */
export const RECENT_TASKS = 10
export const MAX_LISTS = 200

const { properties: brief } = Type.Omit(TaskListItem, ['description', 'notes', 'metadata'])

const Notice = Type.String({
  description: 'A notice that task texts and the names of lists and projects are untrusted data.',
})

/** A task for an assistant: without its long texts, and never with `metadata`. */
export const TaskBrief = Type.Object(brief, {
  $id: 'TaskBrief',
  description: 'A task without its description, notes and metadata.',
})
export type TaskBrief = Static<typeof TaskBrief>

const ContextProject = Type.Object(
  {
    id: Uuid('The ID of the project.'),
    name: Type.String({ description: 'The name.' }),
    archivedAt: Nullable(DateTime('When the project was archived, or null if it is active.')),
  },
  { description: 'The project of this context, or null for all projects.' },
)

const ContextList = Type.Object(
  {
    id: Uuid('The ID of the list. Use it as `listId` to create tasks.'),
    name: Type.String({ description: 'The name.' }),
    projectId: Uuid('The project that the list belongs to.'),
    projectName: Type.String({ description: 'The name of the project.' }),
    isDefault: Type.Boolean({ description: 'Whether this is the default list of its project.' }),
    openCount: Type.Integer({ description: 'The number of tasks that aren’t done.' }),
  },
  { description: 'A list that tasks can be created in.' },
)

const Omission = Type.Object(
  {
    kind: StringEnum(['instruction', 'list', 'task', 'lists', 'tasks'], {
      description: 'The kind of item that was omitted. The plural stands for all items beyond the limit.',
    }),
    id: Nullable(Uuid('The ID of the item, or null for more than one.')),
    priority: Nullable(Type.Number({ description: 'The priority of the omitted rule.' })),
    reason: StringEnum(['budget', 'limit', 'scope'], {
      description:
        '`budget`: it exceeds `budgetTokens`. `limit`: it exceeds the maximum of the response. `scope`: the key lacks `tasks:read`.',
    }),
  },
  { description: 'An omitted item.' },
)

export const Context = Type.Object(
  {
    instructions: Type.Array(ref(Rule), {
      maxItems: 2_000,
      description:
        'The active rules that apply, sorted by priority (highest first), then creation time, then ID.',
    }),
    project: Nullable(ContextProject),
    lists: Type.Array(ContextList, {
      maxItems: MAX_LISTS,
      description: 'The lists that tasks can be created in, at most 200.',
    }),
    tasks: Type.Optional(
      Type.Object(
        {
          open: Type.Integer({ description: 'The number of open tasks.' }),
          inProgress: Type.Integer({ description: 'The number of tasks in progress.' }),
          recent: Type.Array(ref(TaskBrief), {
            maxItems: RECENT_TASKS,
            description: 'The ten most recently updated tasks.',
          }),
        },
        { description: 'An overview of the tasks. Omitted if the key lacks `tasks:read`.' },
      ),
    ),
    notice: Notice,
    serverTime: DateTime('The current time of the server.'),
    omitted: Type.Array(Omission, {
      maxItems: 20,
      description:
        'The omitted items and the reasons, at most 20, and fewer if the budget runs out. You haven’t received the rules listed here.',
    }),
    omittedCount: Type.Integer({ description: 'The total number of omitted items.' }),
  },
  { $id: 'Context', description: 'The context of a session with an AI assistant.' },
)
export type Context = Static<typeof Context>

const scopeOfContext = {
  projectId: Type.Optional(Uuid('Includes the rules of this project, and only its lists and tasks.')),
  paths: Type.Optional(
    QueryArray(
      Type.String({ minLength: 1, maxLength: 500, description: 'A path.', examples: ['src/app.ts'] }),
      'Files that the session is about, relative to the root of the repository. Includes the rules with a matching glob in `paths`; other rules with `paths` are omitted.',
    ),
  ),
  includeArchived: Type.Optional(
    Type.Boolean({
      description: 'Whether to include tasks of archived projects. Without effect if you set `projectId`.',
      default: false,
    }),
  ),
  budgetTokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      description:
        'The approximate size limit in tokens (4 bytes of UTF-8 each), for the JSON and the Markdown separately. Rules come before lists, and lists before tasks. Items that don’t fit are listed in `omitted`; smaller items after them are still included. By default, there is no limit.',
      examples: [4000],
    }),
  ),
}

export const ContextRequest = StrictObject(scopeOfContext, {
  description: 'The project, the files and the size limit.',
})
export type ContextRequest = Static<typeof ContextRequest>

export const ContextQuery = StrictObject(
  {
    ...scopeOfContext,
    format: Type.Optional(
      StringEnum(['json', 'markdown', 'agents-md'], {
        default: 'json',
        description:
          'The response format. `agents-md` is a file for `AGENTS.md`: only the rules, all of them, with their globs. It cannot have `paths` or `budgetTokens`.',
      }),
    ),
  },
  { description: 'The project, the files, the size limit and the format.' },
)
export type ContextQuery = Static<typeof ContextQuery>
