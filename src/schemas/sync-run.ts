import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

const SyncStatus = ['queued', 'running', 'rate_limited', 'completed', 'failed'] as const
const SyncMode = ['incremental', 'full'] as const

const counts = (what: string) =>
  Type.Object(
    {
      created: Type.Integer({ description: 'Created.' }),
      updated: Type.Integer({ description: 'Updated, but neither closed nor reopened.' }),
      closed: Type.Integer({ description: 'Closed since the last sync. Their tasks are done.' }),
      reopened: Type.Integer({ description: 'Reopened since the last sync.' }),
      unchanged: Type.Integer({ description: 'Unchanged.' }),
    },
    { description: `The results for ${what}.` },
  )

const Skipped = Type.Object(
  {
    number: Type.Integer({ description: 'The number of the issue or pull request.' }),
    reason: Type.String({
      description: 'Why it was skipped. `deleted_here` means that its task was deleted in Inlet.',
    }),
  },
  { description: 'A skipped issue or pull request.' },
)

const SyncError = Type.Object(
  {
    code: Type.String({ description: 'A code for programs.' }),
    message: Type.String({ description: 'A message for people: what went wrong and how to fix it.' }),
  },
  { description: 'Why the run failed, or null if it didn’t.' },
)

const SyncRateLimit = Type.Object(
  {
    remaining: Nullable(
      Type.Integer({
        description: 'The number of requests left, or null if the code host doesn’t report it.',
      }),
    ),
    resetAt: Nullable(DateTime('When the limit resets.')),
  },
  { description: 'The last reported rate limit of the code host, or null if it reports none.' },
)

export const SyncRun = Type.Object(
  {
    id: Uuid('The ID of the run.'),
    projectId: Uuid('The project being synced.'),
    status: StringEnum([...SyncStatus], {
      description:
        'The status of the run. `queued`, `running` and `rate_limited` are active. A project has at most one active run.',
    }),
    mode: StringEnum([...SyncMode], {
      description:
        '`incremental` imports what changed since the last run. `full` imports everything and checks for items that were deleted or transferred.',
    }),
    fetched: Type.Integer({
      description:
        'The number of issues and pull requests fetched. Equals the sum of the counts and `skipped`.',
    }),
    total: Nullable(
      Type.Integer({
        description:
          'How many issues and pull requests the repository had when the run started, or null. Only for runs that import everything, such as the first one, and only if the code host tells. More may be fetched: those created since.',
        examples: [4310],
      }),
    ),
    issues: counts('issues'),
    pullRequests: counts('pull requests'),
    comments: Type.Object(
      {
        created: Type.Integer({ description: 'Created.' }),
        updated: Type.Integer({ description: 'Updated.' }),
        deleted: Type.Integer({ description: 'Deleted.' }),
      },
      { description: 'The results for comments.' },
    ),
    createdDone: Type.Integer({
      description: 'How many of the created tasks are done because their issue or pull request is closed.',
    }),
    skipped: Type.Array(Skipped, { description: 'The issues and pull requests that were skipped.' }),
    gone: Type.Integer({ description: 'The number of items that a full run found deleted or transferred.' }),
    error: Nullable(SyncError),
    retryAt: Nullable(DateTime('When a rate-limited run resumes, or null.')),
    rateLimit: Nullable(SyncRateLimit),
    startedAt: Nullable(DateTime('When the run started, or null while it is queued.')),
    finishedAt: Nullable(DateTime('When the run completed or failed, or null while it is active.')),
  },
  { $id: 'SyncRun', description: 'A sync of a repository.' },
)
export type SyncRun = Static<typeof SyncRun>

export const SyncRunPage = PageOf(ref(SyncRun), { description: 'A page of sync runs.' })

export const SyncQuery = StrictObject(
  {
    mode: Type.Optional(
      StringEnum([...SyncMode], {
        description:
          '`incremental` imports what changed since the last run. `full` imports everything and checks for items that were deleted or transferred.',
        default: 'incremental',
      }),
    ),
  },
  { description: 'Sync options.' },
)
export type SyncQuery = Static<typeof SyncQuery>

export const SyncRunQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'Pagination.' },
)

export const SyncPath = StrictObject(
  { projectId: Uuid('The ID of the project.') },
  { description: 'Path parameters.' },
)

export const SyncRunPath = StrictObject(
  { projectId: Uuid('The ID of the project.'), runId: Uuid('The ID of the sync run.') },
  { description: 'Path parameters.' },
)

export const Prefer = Type.Object({
  prefer: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        '`wait=N` waits up to N seconds (at most 60) and returns 200 when the run has ended or is rate limited, or 202 after that time.',
      examples: ['wait=30'],
    }),
  ),
})
