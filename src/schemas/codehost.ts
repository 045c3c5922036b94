import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

const SyncStatus = ['queued', 'running', 'rate_limited', 'completed', 'failed'] as const
const SyncMode = ['incremental', 'full'] as const
const SyncSchedule = ['off', 'hourly', 'daily'] as const

const counts = (what: string) =>
  Type.Object(
    {
      created: Type.Integer({ description: 'New here.' }),
      updated: Type.Integer({ description: 'Changed, and neither closed nor reopened.' }),
      closed: Type.Integer({ description: 'Closed since the last sync, now done.' }),
      reopened: Type.Integer({ description: 'Open again since the last sync.' }),
      unchanged: Type.Integer({ description: 'As they were.' }),
    },
    { description: `What became of the ${what}.` },
  )

const Skipped = Type.Object(
  {
    number: Type.Integer({ description: 'The number of the issue or pull request.' }),
    reason: Type.String({ description: '`deleted_here`: its task was deleted here and stays so.' }),
  },
  { description: 'An entry that was left alone.' },
)

const SyncError = Type.Object(
  {
    code: Type.String({ description: 'For programs.' }),
    message: Type.String({ description: 'For people: what is wrong and what helps.' }),
  },
  { description: 'Why it failed; null unless it did.' },
)

const SyncRateLimit = Type.Object(
  {
    remaining: Nullable(
      Type.Integer({ description: 'Requests left; null when the code host does not say.' }),
    ),
    resetAt: Nullable(DateTime('When there are more.')),
  },
  { description: 'What the code host last said of its limits; null when it says nothing.' },
)

export const SyncRun = Type.Object(
  {
    id: Uuid('Identifier of the run.'),
    projectId: Uuid('The project that is synced.'),
    status: StringEnum([...SyncStatus], {
      description: 'Queued, running and rate_limited are active: a project has one active run at most.',
    }),
    mode: StringEnum([...SyncMode], {
      description: 'What changed since the last run, or everything, vanished entries included.',
    }),
    fetched: Type.Integer({
      description:
        'How many issues and pull requests it met, each once. The counts and `skipped` add up to it.',
    }),
    issues: counts('issues'),
    pullRequests: counts('pull requests'),
    createdDone: Type.Integer({
      description: 'How many of the created ones, of both kinds, are done because they are closed there.',
    }),
    skipped: Type.Array(Skipped, { description: 'What was met and left alone, and why.' }),
    gone: Type.Integer({ description: 'How many a full run found transferred or deleted.' }),
    error: Nullable(SyncError),
    retryAt: Nullable(DateTime('When it goes on, while the code host makes it wait; null otherwise.')),
    rateLimit: Nullable(SyncRateLimit),
    startedAt: Nullable(DateTime('When a worker took it up; null while it is queued.')),
    finishedAt: Nullable(DateTime('When it was completed or failed.')),
  },
  { $id: 'SyncRun', description: 'One pass over a repository.' },
)
export type SyncRun = Static<typeof SyncRun>

export const SyncRunPage = PageOf(ref(SyncRun), 'A page of sync runs.')

/** A nullable reference: `Nullable` supports only schemas with a `type` of their own. */
const LastRun = Type.Unsafe<SyncRun | null>({
  anyOf: [{ $ref: 'SyncRun#' }, { type: 'null' }],
  description: 'The latest sync run of this connection; null before the first.',
})

/** The connected repository, as a member of its project. */
export const ProjectCodehost = Type.Object(
  {
    repository: Type.String({ description: '`owner/name`, as the code host spells it now.' }),
    apiUrl: Type.String({ description: 'The code host’s API address.' }),
    connectedAt: DateTime('When it was connected.'),
    lastRun: LastRun,
  },
  { description: 'The connected repository; null when there is none.' },
)

export const Connection = Type.Object(
  {
    projectId: Uuid('The project that follows the repository.'),
    repository: Type.String({ description: '`owner/name`, as the code host spells it now.' }),
    apiUrl: Type.String({ description: 'The code host’s API address.' }),
    hasToken: Type.Boolean({ description: 'Whether a token is stored. It is never shown.' }),
    listId: Nullable(Uuid('The list new tasks go to; null for the project’s default list.')),
    schedule: StringEnum([...SyncSchedule], { description: 'How often it is synced by itself.' }),
    nextRunAt: Nullable(
      DateTime(
        'When the next scheduled run is due; null without a schedule. After a failure that only a person can mend, such as a token that was revoked, that is a day later; connecting anew or a sync that succeeds brings the schedule back.',
      ),
    ),
    connectedAt: DateTime('When it was connected.'),
    updatedAt: DateTime('When the connection was last changed.'),
    lastRun: LastRun,
  },
  { $id: 'Connection', description: 'The repository a project follows.' },
)
export type Connection = Static<typeof Connection>

export const ConnectionRequest = StrictObject(
  {
    repository: Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        '`owner/name`. An https address or a git@ form of the repository does as well, where it is one of the code host that is asked.',
      examples: ['acme/app'],
    }),
    token: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 500,
          pattern: '^[!-~]+$',
          description:
            'A token that may read issues and pull requests. Kept encrypted, never returned. Left out: the stored one stays, as long as the code host is the same, and the request is refused when it cannot be decrypted any more; null takes it away. A key bound to a project must send one with a new repository, and cannot send null to take one away.',
        }),
      ),
    ),
    apiUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'The code host’s API address, one of those the operator allows. Left out: the stored one; for a first connection the first of them.',
        examples: ['https://api.github.com'],
      }),
    ),
    listId: Type.Optional(
      Nullable(
        Uuid(
          'The list new tasks go to, one of the project; null for its default list. Left out: the stored one; for a first connection the default list.',
        ),
      ),
    ),
    schedule: Type.Optional(
      StringEnum([...SyncSchedule], {
        description:
          'How often it is synced by itself, and everything once a week; `off` for only when asked. Left out: the stored one; for a first connection `hourly`.',
      }),
    ),
  },
  { $id: 'ConnectionRequest', description: 'A repository to be connected.' },
)
export type ConnectionRequest = Static<typeof ConnectionRequest>

export const SyncQuery = StrictObject(
  {
    mode: Type.Optional(
      StringEnum([...SyncMode], {
        description: '`full` goes through everything and asks what became of entries that vanished.',
        default: 'incremental',
      }),
    ),
  },
  { description: 'What kind of run.' },
)
export type SyncQuery = Static<typeof SyncQuery>

export const SyncRunQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'Which page.' },
)

export const SyncPath = StrictObject(
  { projectId: Uuid('Identifier of the project.') },
  { description: 'Path parameters.' },
)

export const SyncRunPath = StrictObject(
  { projectId: Uuid('Identifier of the project.'), runId: Uuid('Identifier of the sync run.') },
  { description: 'Path parameters.' },
)

export const Prefer = Type.Object({
  prefer: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        '`wait=N` answers 200 as soon as the run has ended or is rate limited, 202 after N seconds (60 at most).',
      examples: ['wait=30'],
    }),
  ),
})
