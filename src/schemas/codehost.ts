import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, SentSecret, StrictObject, StringEnum, Uuid } from './parts.ts'
import type { SyncRun } from './sync-run.ts'

const SyncSchedule = ['off', 'hourly', 'daily'] as const
const WriteBack = ['off', 'state', 'comments'] as const

/** A nullable reference: `Nullable` supports only schemas with a `type` of their own. */
const LastRun = Type.Unsafe<SyncRun | null>({
  anyOf: [{ $ref: 'SyncRun#' }, { type: 'null' }],
  description: 'The latest sync run of this connection, or null before the first run.',
})

/** The connected repository, as a member of its project. */
export const ProjectCodehost = Type.Object(
  {
    repository: Type.String({
      description: 'The repository as `owner/name`, in the current spelling of the code host.',
    }),
    apiUrl: Type.String({ description: 'The API URL of the code host.' }),
    connectedAt: DateTime('When the repository was connected.'),
    lastRun: LastRun,
  },
  { description: 'The connected repository, or null if there is none.' },
)

const appMembers = {
  appId: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The ID of the GitHub App, shown in its settings.',
    examples: [123456],
  }),
  installationId: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The ID of the installation: the number at the end of the URL of its settings.',
    examples: [45678901],
  }),
}

const webhookUrl = Type.String({
  description: 'The URL that the code host sends deliveries to.',
  examples: ['https://inlet.example/in/codehost/019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'],
})

const ConnectionWebhook = Type.Object(
  {
    url: webhookUrl,
    hasSecret: Type.Boolean({
      description: 'Whether there is a secret. Without one, all deliveries are rejected: create one first.',
    }),
    lastDeliveryAt: Nullable(
      DateTime('When the latest delivery was received, such as the test of a new webhook, or null.'),
    ),
    secret: Type.Optional(
      Type.String({
        description:
          'The secret that the code host signs deliveries with. Only in the response that connects the repository, and only if `ENCRYPTION_KEY` is set.',
      }),
    ),
  },
  { description: 'The webhook through which the code host reports changes at once.' },
)

export const WebhookSecretOfConnection = Type.Object(
  {
    url: webhookUrl,
    secret: Type.String({
      description: 'The secret that the code host signs deliveries with. It is only returned once.',
    }),
    previousExpiresAt: Nullable(
      DateTime('Until when the previous secret works as well, or null if there was none.'),
    ),
  },
  { $id: 'ConnectionWebhookSecret', description: 'A new webhook secret of a connection.' },
)

export const Connection = Type.Object(
  {
    id: Uuid('The ID of the connection.'),
    projectId: Uuid('The project that the repository is connected to.'),
    repository: Type.String({
      description: 'The repository as `owner/name`, in the current spelling of the code host.',
    }),
    apiUrl: Type.String({ description: 'The API URL of the code host.' }),
    hasToken: Type.Boolean({ description: 'Whether a token is stored. The token itself is never returned.' }),
    app: Nullable(
      Type.Object(appMembers, {
        description:
          'The GitHub App that is used instead of a token, or null. Its private key is never returned.',
      }),
    ),
    listId: Nullable(Uuid('The list that new tasks are created in, or null for the project’s default list.')),
    schedule: StringEnum([...SyncSchedule], {
      description: 'How often the repository is synced automatically.',
    }),
    comments: Type.Boolean({
      description: 'Whether comments on issues and pull requests are synced to their tasks.',
    }),
    writeBack: StringEnum([...WriteBack], {
      description:
        'What is written to the code host. `state` closes and reopens issues when their tasks are completed or reopened here. `comments` also posts public comments.',
    }),
    nextRunAt: Nullable(
      DateTime(
        'When the next scheduled run is due, or null without a schedule. After a failure that you have to fix, such as a revoked token, it is a day later. The schedule is restored when you update the connection or a sync succeeds.',
      ),
    ),
    webhook: ConnectionWebhook,
    connectedAt: DateTime('When the repository was connected.'),
    updatedAt: DateTime('When the connection was last updated.'),
    lastRun: LastRun,
  },
  { $id: 'Connection', description: 'The connection of a project to a repository.' },
)
export type Connection = Static<typeof Connection>

export const ConnectionRequest = StrictObject(
  {
    repository: Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        'The repository as `owner/name`. An https or git@ URL also works if it belongs to the code host at `apiUrl`.',
      examples: ['acme/app'],
    }),
    token: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 500,
          ...SentSecret,
          description:
            'A token with read access to issues and pull requests. It is stored encrypted and never returned. If omitted, the stored token is kept as long as the code host stays the same; the request fails if that token can no longer be decrypted. Null removes the stored token. A key bound to a project must send a token or an `app` with a new repository, and can’t send null.',
        }),
      ),
    ),
    app: Type.Optional(
      Nullable(
        StrictObject(
          {
            ...appMembers,
            privateKey: Type.String({
              minLength: 1,
              maxLength: 5000,
              description:
                'A private key of the GitHub App: the content of the `.pem` file. Line breaks can be escaped as `\\n`. It is stored encrypted and never returned.',
            }),
          },
          {
            description:
              'A GitHub App to use instead of a token; the two can’t be sent together, and one replaces the other. The App needs read access to issues and pull requests, and an installation with access to the repository. If omitted, the stored App is kept, as for `token`. Null removes it.',
          },
        ),
      ),
    ),
    apiUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'The API URL of the code host. It must be one that the operator allows. Defaults to the stored URL, or to the first allowed one for a new connection.',
        examples: ['https://api.github.com'],
      }),
    ),
    listId: Type.Optional(
      Nullable(
        Uuid(
          'The list of the project that new tasks are created in, or null for its default list. Defaults to the stored list, or to the default list for a new connection.',
        ),
      ),
    ),
    schedule: Type.Optional(
      StringEnum([...SyncSchedule], {
        description:
          'How often the repository is synced automatically; a full sync runs once a week. `off` syncs only on request. Defaults to the stored schedule, or to `hourly` for a new connection.',
      }),
    ),
    comments: Type.Optional(
      Type.Boolean({
        description:
          'Whether to sync comments on issues and pull requests to their tasks, existing comments included. Turning it off keeps the comments that are stored. Defaults to the stored setting, or to false for a new connection.',
      }),
    ),
    writeBack: Type.Optional(
      StringEnum([...WriteBack], {
        description:
          'What to write to the code host. `state` closes and reopens issues when their tasks are completed or reopened here; `comments` also posts public comments. Earlier changes are not written. The token or the App needs write access to issues. Defaults to the stored setting, or to `off` for a new connection.',
      }),
    ),
  },
  { $id: 'ConnectionRequest', description: 'The repository to connect.' },
)
export type ConnectionRequest = Static<typeof ConnectionRequest>
