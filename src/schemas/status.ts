import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, QueryArray, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

const PIPE_KINDS = [
  'feedback',
  'source',
  'sync',
  'push',
  'write_back',
  'webhook',
  'identity_provider',
] as const
const PIPE_STATES = ['ok', 'failing', 'silent', 'off'] as const

/** Hours of which the attempts are counted, the current one included. */
export const COUNTED_HOURS = 24

export const Pipe = Type.Object(
  {
    kind: StringEnum([...PIPE_KINDS], {
      description:
        'What it is: the feedback receiver, a source, one of the three ways to the code host of a connected repository (`sync` reads, `push` receives, `write_back` writes), an outgoing webhook, or an identity provider.',
    }),
    id: Type.String({
      description:
        'The ID of the source, the connection, the webhook or the provider; `feedback` for the feedback receiver, and `env` for the provider of the environment.',
      examples: ['019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'],
    }),
    name: Type.String({ description: 'Its name; of a connection, the repository.' }),
    projectId: Nullable(Uuid('Its project, or null if it concerns the whole service.')),
    state: StringEnum([...PIPE_STATES], {
      description:
        '`failing` if the last attempt failed, or Inlet has switched it off because attempts failed. `ok` if it succeeded. `silent` if it succeeded, but nothing has happened for three times the longest pause of the four weeks before, and for at least an hour; only once it was in use on two days. `off` if it was never used, a user has switched it off, or its project is archived.',
    }),
    lastSuccessAt: Nullable(DateTime('When an attempt succeeded last.')),
    lastError: Nullable(
      Type.Object(
        {
          at: DateTime('When it failed.'),
          code: Type.String({
            description:
              'The code of the error: of a problem document, a sync run, a write to the code host, or a sign-in. Of outgoing webhooks it is `receiver_failed`, and of a source that Inlet has switched off `source_disabled`.',
            examples: ['codehost_token_rejected'],
          }),
          detail: Nullable(
            Type.String({
              description: 'What happened, in words. Null for callers without the scope `admin`.',
            }),
          ),
        },
        { description: 'The last attempt that failed. Later ones may have succeeded.' },
      ),
    ),
    hours: Type.Array(
      Type.Object(
        {
          succeeded: Type.Integer({ description: 'How many attempts succeeded.' }),
          failed: Type.Integer({ description: 'How many attempts failed.' }),
        },
        { description: 'The attempts of an hour.' },
      ),
      {
        minItems: COUNTED_HOURS,
        maxItems: COUNTED_HOURS,
        description: 'The attempts of 24 hours in UTC, oldest first. The last one is the current hour.',
      },
    ),
  },
  { $id: 'Pipe', description: 'One way in or out, and how it does.' },
)
export type Pipe = Static<typeof Pipe>

export const Status = Type.Object(
  {
    data: Type.Array(ref(Pipe), {
      maxItems: 100_000,
      description:
        'Those that match, by kind; first those that fail, beginning with the one that began last, then the others by name.',
    }),
    counts: Type.Array(
      Type.Object(
        {
          kind: StringEnum([...PIPE_KINDS], { description: 'The kind.' }),
          state: StringEnum([...PIPE_STATES], { description: 'The state.' }),
          count: Type.Integer({ description: 'How many match, also beyond `perState`.' }),
        },
        { description: 'Those of a kind in a state.' },
      ),
      {
        maxItems: PIPE_KINDS.length * PIPE_STATES.length,
        description: 'How many there are of each kind in each state; without zeros.',
      },
    ),
    nextCursor: Type.Null({ description: 'Always null: the list has one page.' }),
  },
  { description: 'Ways in and out.' },
)
export type Status = Static<typeof Status>

export const StatusQuery = StrictObject(
  {
    kind: Type.Optional(
      QueryArray(StringEnum([...PIPE_KINDS], { description: 'A kind.' }), 'Only this kind.'),
    ),
    state: Type.Optional(
      QueryArray(StringEnum([...PIPE_STATES], { description: 'A state.' }), 'Only those in this state.'),
    ),
    projectId: Type.Optional(Uuid('Only those of this project, and those that concern the whole service.')),
    perState: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'At most so many of each kind in each state, the first ones. With 0, only `counts`; without it, all.',
      }),
    ),
  },
  { description: 'Filters.' },
)
export type StatusQuery = Static<typeof StatusQuery>
