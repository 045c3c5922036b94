import { type Static, Type } from '@sinclair/typebox'
import { Scope } from './caller.ts'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { PasskeyAssertion } from './passkey.ts'
import { ProjectsInReach } from './user.ts'

export const Session = Type.Object(
  {
    id: Uuid('The ID of the session.'),
    keyId: Nullable(
      Uuid('The key that the session was opened with and ends with, or null if it is one of a person.'),
    ),
    userId: Nullable(Uuid('The person who signed in, or null if a key was used.')),
    name: Type.String({ description: 'The name of the person or key.' }),
    scopes: Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
      maxItems: Scope.length,
      description: 'The scopes of the person or key.',
    }),
    projectIds: ProjectsInReach('The projects in reach, or null for all projects.'),
    userAgent: Nullable(Type.String({ description: 'The browser that the session was opened in.' })),
    isCurrent: Type.Boolean({ description: 'Whether this is the session of the current request.' }),
    createdAt: DateTime('When the session was opened.'),
    lastSeenAt: DateTime('When the session was last used, accurate to a minute.'),
    expiresAt: DateTime(
      'When the session expires. One of a person: 7 days after its last use, and 30 days after its start at the latest. One of a key: 12 hours after its last use, or with its key or the secret that opened it.',
    ),
  },
  { $id: 'Session', description: 'Somebody signed in to the dashboard.' },
)
export type Session = Static<typeof Session>

export const SessionPage = PageOf(ref(Session), { description: 'A page of sessions.' })

export const NewSession = StrictObject(
  {
    username: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'The username of a person.' }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        writeOnly: true,
        description: 'The password of that person.',
      }),
    ),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        writeOnly: true,
        description: 'Instead of both: an API key.',
      }),
    ),
    passkey: Type.Optional(ref(PasskeyAssertion)),
  },
  { $id: 'NewSession', description: 'Either `username` and `password`, or `key`, or `passkey`.' },
)
export type NewSession = Static<typeof NewSession>

export const SignInWays = Type.Object(
  {
    password: Type.Boolean({ description: 'Whether people can sign in with a password.' }),
    passkeys: Type.Boolean({
      description:
        'Whether browsers allow passkeys at this address: `PUBLIC_URL` is https, or it is `http://localhost`.',
    }),
    keys: StringEnum(['all', 'admin'], {
      description: 'Which API keys can sign in: all, or only those with `admin`.',
    }),
    providers: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The ID of the provider: `/auth/{id}` begins to sign in with it.' }),
          name: Type.String({ description: 'The name of the provider.' }),
        },
        { description: 'An identity provider.' },
      ),
      { maxItems: 6, description: 'The identity providers that people can sign in with.' },
    ),
    hasPeople: Type.Boolean({
      description:
        'Whether anybody has an account. Until then, only an API key or an identity provider signs in.',
    }),
  },
  { $id: 'SignInWays', description: 'The ways to sign in.' },
)
export type SignInWays = Static<typeof SignInWays>

/** Those that the environment switches. */
export type SwitchedWays = Pick<SignInWays, 'password' | 'keys'>
