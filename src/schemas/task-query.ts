import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, QueryArray, StrictObject, StringEnum, Uuid } from './parts.ts'
import { Priority, Source, Status } from './task.ts'

export const TaskSort = [
  '-createdAt',
  'createdAt',
  '-openedAt',
  'openedAt',
  '-updatedAt',
  'updatedAt',
  '-priority',
  '-reports',
] as const
export type TaskSort = (typeof TaskSort)[number]

const Names = (what: 'label' | 'assignee', more = '') =>
  QueryArray(
    Type.String({ minLength: 1, maxLength: 100 }),
    `Only tasks with this ${what}, ignoring case. \`none\` matches tasks without ${what}s.${more}`,
  )
const CodehostNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 2_147_483_647, description })

export const TaskQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only tasks in this project.')),
    listId: Type.Optional(Uuid('Only tasks in this list.')),
    status: Type.Optional(QueryArray(Status('A status.'), 'Only tasks with this status.')),
    source: Type.Optional(QueryArray(Source('A source.'), 'Only tasks from this source.')),
    priority: Type.Optional(QueryArray(Priority('A priority.'), 'Only tasks with this priority.')),
    kind: Type.Optional(
      StringEnum(['issue', 'pull_request'], {
        description: 'Only tasks that track an issue or a pull request.',
      }),
    ),
    label: Type.Optional(Names('label')),
    assignee: Type.Optional(Names('assignee', ' `@me` is your username, if you are a person.')),
    externalId: Type.Optional(
      QueryArray(Type.String({ minLength: 1, maxLength: 255 }), 'Only tasks with this external ID.'),
    ),
    isReady: Type.Optional(
      Type.Boolean({
        description:
          'Only tasks that work can begin on: open, not claimed, not blocked by another task, without a `question`, and not in an archived project. With `false`, only the others.',
      }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Only tasks that contain all of these words, ignoring case, in the title, the first 1,000 characters of the description, the external ID, the labels or the assignees. A word can be part of a longer one. Put a phrase in double quotes. `#12` is the number of an issue or pull request. If all words have one or two characters, a page examines at most 20,000 tasks and can be short or even empty: `nextCursor` continues the search.',
      }),
    ),
    claimed: Type.Optional(
      Type.Boolean({ description: 'Only tasks that are claimed, or with `false`, only tasks that aren’t.' }),
    ),
    triaged: Type.Optional(
      Type.Boolean({
        description:
          'Only tasks that somebody has decided about, or with `false`, only tasks that are to be triaged, snoozed ones included.',
      }),
    ),
    snoozed: Type.Optional(
      Type.Boolean({
        description: 'Only tasks that are snoozed now, or with `false`, only tasks that aren’t.',
      }),
    ),
    needsAnswer: Type.Optional(
      Type.Boolean({
        description: 'Only tasks with a `question`, or with `false`, only tasks without one.',
      }),
    ),
    createdSince: Type.Optional(DateTime('Only tasks created at or after this time.')),
    updatedSince: Type.Optional(
      DateTime(
        'Only tasks updated at or after this time. For people who look for recent changes: a program that asks again and again misses tasks that commit late, and follows `GET /api/changes` instead.',
      ),
    ),
    openedSince: Type.Optional(DateTime('Only tasks opened at or after this time.')),
    codehostIssueNumber: Type.Optional(CodehostNumber('Only the task that tracks this issue.')),
    codehostPrNumber: Type.Optional(CodehostNumber('Only the task that tracks this pull request.')),
    includeArchived: Type.Optional(
      Type.Boolean({
        description:
          'Whether to include tasks of archived projects. Without effect if you set a project or list.',
        default: false,
      }),
    ),
    deleted: Type.Optional(
      Type.Boolean({
        description:
          'Whether to return only tasks that were deleted in the last 30 days, which can be restored. Sorting by `updatedAt` then uses the time of deletion.',
        default: false,
      }),
    ),
    fields: Type.Optional(
      StringEnum(['summary', 'all'], {
        description: '`summary` omits the description, notes and metadata.',
        default: 'all',
      }),
    ),
    sort: Type.Optional(
      StringEnum([...TaskSort], {
        description:
          'The sort order. A leading minus means descending. Defaults to `-createdAt`, or with `deleted=true` to `-updatedAt`, the latest deletion first.',
      }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
    count: Type.Optional(
      Type.Boolean({
        description: 'Whether to return `total`, the number of tasks on all pages, which takes longer.',
        default: false,
      }),
    ),
  },
  { description: 'Filters, sort order and pagination.' },
)
export type TaskQuery = Static<typeof TaskQuery>
