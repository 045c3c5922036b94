import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, Uuid } from './parts.ts'
import { TaskListItem } from './task.ts'
import { TaskQuery } from './task-query.ts'

export const Merge = StrictObject(
  { into: Uuid('The task of the same project that this task is a report of.') },
  { $id: 'Merge', description: 'The task to merge into.' },
)
export type Merge = Static<typeof Merge>

export const ReportQuery = StrictObject(
  {
    fields: TaskQuery.properties.fields,
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
    count: Type.Optional(
      Type.Boolean({
        description:
          'Whether to return `counts`, of the task and all of its reports, whatever the page. Of more than 10,000 tasks, the newest are counted.',
        default: false,
      }),
    ),
  },
  { description: 'Fields and pagination.' },
)
export type ReportQuery = Static<typeof ReportQuery>

export const ReportCountsQuery = StrictObject(
  {
    id: Type.Array(Uuid('The ID of a task.'), {
      minItems: 1,
      maxItems: 100,
      description:
        'The tasks. Repeat it for several. Each task counts once, and those that aren’t found don’t count.',
    }),
  },
  { description: 'The tasks to count.' },
)

const Counts = (description: string) =>
  Type.Array(
    Type.Object(
      {
        name: Type.String({ maxLength: 100, description: 'The value, cut at 100 characters.' }),
        count: Type.Integer({ description: 'How many have it.' }),
      },
      { description: 'A value, and how many have it.' },
    ),
    { maxItems: 50, description: `${description}, most frequent first, at most 50.` },
  )

export const ReportCounts = Type.Object(
  {
    sentiments: Counts('The sentiments of the feedback'),
    appVersions: Counts('The versions of the app that the feedback is about'),
    firstOpenedAt: Nullable(DateTime('The first `openedAt` of the tasks, or null if there are none.')),
    lastOpenedAt: Nullable(DateTime('The last `openedAt` of the tasks, or null if there are none.')),
  },
  {
    $id: 'ReportCounts',
    description: 'What tasks and their reports have in common, as far as they are feedback.',
  },
)
export type ReportCounts = Static<typeof ReportCounts>

export const TaskReportCounts = Type.Object(
  {
    ...ReportCounts.properties,
    tasks: Type.Array(
      Type.Object(
        { id: Uuid('The ID of the task.'), ...ReportCounts.properties },
        { description: 'A task, and what it and its reports have in common.' },
      ),
      {
        maxItems: 100,
        description:
          'The same for each task that was found, by ID. A report that is named itself counts there, and not with the task that it is merged into.',
      },
    ),
  },
  {
    $id: 'TaskReportCounts',
    description: 'What tasks and their reports have in common: together, and each task with its reports.',
  },
)
export type TaskReportCounts = Static<typeof TaskReportCounts>

const { properties: pageOfReports } = PageOf(ref(TaskListItem), { description: '' })
export const ReportPage = Type.Object(
  {
    ...pageOfReports,
    counts: Type.Optional({ ...ref(ReportCounts), description: 'With `count=true`.' }),
  },
  { description: 'A page of reports.' },
)

export const SimilarQuery = StrictObject(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'The maximum number of results.' }),
    ),
  },
  { description: 'The number of results.' },
)
export type SimilarQuery = Static<typeof SimilarQuery>

export const SimilarTasks = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          task: ref(TaskListItem),
          similarity: Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'How similar the texts are: 1 means that they have the same words.',
          }),
          appVersion: Nullable(
            Type.String({
              maxLength: 100,
              description: 'The version of the app that its feedback is about, cut at 100 characters.',
            }),
          ),
          sentiment: Nullable(
            Type.String({
              maxLength: 100,
              description: 'The sentiment of its feedback, cut at 100 characters.',
            }),
          ),
        },
        { description: 'A similar task.' },
      ),
      { maxItems: 50, description: 'The similar tasks, most similar first, without long fields.' },
    ),
    unavailable: Type.Boolean({
      description: 'True if similar tasks can’t be found, because the database doesn’t have pg_trgm.',
    }),
  },
  { $id: 'SimilarTasks', description: 'The tasks that resemble a task.' },
)
export type SimilarTasks = Static<typeof SimilarTasks>
