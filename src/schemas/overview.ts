import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, ref, StrictObject, Uuid } from './parts.ts'
import { TaskSource } from './task.ts'

export const Closer = ['people', 'assistants', 'host', 'other'] as const
export type Closer = (typeof Closer)[number]

/** Ten years. */
const MAX_WEEKS = 520

export const OverviewQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only this project. Defaults to all projects that aren’t archived.')),
    weeks: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_WEEKS,
        default: 12,
        description: 'The number of weeks, this one included. The maximum is ten years.',
      }),
    ),
  },
  { description: 'Where, and for how long.' },
)
export type OverviewQuery = Static<typeof OverviewQuery>

const Counts = <Name extends string>(
  names: readonly Name[],
  { description, of }: { description: string; of: string },
) =>
  Type.Object(
    Object.fromEntries(
      names.map((name) => [name, Type.Integer({ description: `${of} \`${name}\`.` })]),
    ) as Record<Name, ReturnType<typeof Type.Integer>>,
    { description },
  )

const Days = (description: string) => Type.Integer({ description })

export const OverviewWeek = Type.Object(
  {
    start: DateTime('When the week begins: on Monday at 00:00 UTC.'),
    opened: Counts(TaskSource, {
      description: 'How many tasks were opened in the week, by `openedAt` and `source`.',
      of: 'Those with the source',
    }),
    closed: Counts(Closer, {
      description:
        'How many tasks were closed in the week, by `completedAt` and who closed them: `people` in the dashboard, `assistants` over MCP, the code `host`, or `other`, such as keys of systems and feedback that was merged when it arrived. A merged task is closed by whoever merged it.',
      of: 'Those closed by',
    }),
  },
  { $id: 'OverviewWeek', description: 'What was opened and closed in a week.' },
)

export const Overview = Type.Object(
  {
    weeks: Type.Array(ref(OverviewWeek), {
      maxItems: MAX_WEEKS,
      description: 'The weeks, oldest first. The last one is not over.',
    }),
    untriaged: Type.Integer({ description: 'How many tasks are to be triaged now, without snoozed ones.' }),
    oldestUntriagedAt: Nullable(
      DateTime('The first `createdAt` of the tasks to triage, or null if there are none.'),
    ),
    oldestOpenAt: Nullable(
      DateTime('The first `openedAt` of the tasks that aren’t done, or null if there are none.'),
    ),
    daysToDone: Nullable(
      Type.Object(
        {
          median: Days('Half of the tasks were done after at most this many days.'),
          p90: Days('Nine of ten tasks were done after at most this many days.'),
        },
        {
          description:
            'How long it took from `openedAt` to `completedAt`, in whole days of 24 hours, of the tasks that were closed in these weeks. Without merged tasks; null if there are no others.',
        },
      ),
    ),
  },
  { $id: 'Overview', description: 'What was opened and closed in the last weeks, and what waits.' },
)
export type Overview = Static<typeof Overview>

export const MAX_VERSIONS = 30
export const MAX_PROBLEMS = 10

export const FeedbackOverview = Type.Object(
  {
    versions: Type.Array(
      Type.Object(
        {
          version: Type.String({
            maxLength: 100,
            description: 'The version of the app that the feedback is about, cut at 100 characters.',
          }),
          week: DateTime('When the week begins: on Monday at 00:00 UTC.'),
          loved: Type.Integer({ description: 'How many loved it.' }),
          meh: Type.Integer({ description: 'How many found it meh.' }),
          frustrated: Type.Integer({ description: 'How many were frustrated.' }),
        },
        { description: 'The feedback about a version in a week.' },
      ),
      {
        maxItems: MAX_VERSIONS * MAX_WEEKS,
        description: `The feedback about each version in each week, by \`openedAt\`, the oldest week first; without weeks that have none. Only the ${MAX_VERSIONS} versions with most feedback in all of these weeks. Other sentiments aren’t counted.`,
      },
    ),
    weeks: Type.Array(DateTime('When the week begins: on Monday at 00:00 UTC.'), {
      maxItems: MAX_WEEKS,
      description: 'These weeks, oldest first. The last one is not over.',
    }),
    problems: Type.Array(
      Type.Object(
        {
          taskId: Uuid('The ID of the task.'),
          title: Type.String({ description: 'The title of the task.' }),
          reports: Type.Integer({
            description: 'How many reports it got in these weeks. The task itself is the first report.',
          }),
          weeks: Type.Array(Type.Integer({ description: 'The number of reports in a week.' }), {
            maxItems: MAX_WEEKS,
            description: 'The reports in each of the weeks, oldest first, by their `openedAt`.',
          }),
        },
        { description: 'A task that others were merged into.' },
      ),
      {
        maxItems: MAX_PROBLEMS,
        description: `The tasks with most reports in these weeks, at most ${MAX_PROBLEMS}, the most first. Only tasks that have others merged into them.`,
      },
    ),
  },
  { $id: 'FeedbackOverview', description: 'What users think, and what they report most.' },
)
export type FeedbackOverview = Static<typeof FeedbackOverview>
