import { type Static, Type } from '@sinclair/typebox'
import { Scope } from './caller.ts'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

export const Session = Type.Object(
  {
    id: Uuid('The ID of the session.'),
    keyId: Uuid('The key that the session was opened with. The session ends with the key.'),
    name: Type.String({ description: 'The name of that key.' }),
    scopes: Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
      maxItems: Scope.length,
      description: 'The scopes of that key.',
    }),
    projectId: Nullable(Uuid('The project that the key is bound to, or null for all projects.')),
    userAgent: Nullable(Type.String({ description: 'The browser that the session was opened in.' })),
    isCurrent: Type.Boolean({ description: 'Whether this is the session of the current request.' }),
    createdAt: DateTime('When the session was opened.'),
    lastSeenAt: DateTime('When the session was last used, accurate to a minute.'),
    expiresAt: DateTime(
      'When the session expires: 12 hours after its last use, or with its key or the secret that opened it.',
    ),
  },
  { $id: 'Session', description: 'Somebody signed in to the dashboard.' },
)
export type Session = Static<typeof Session>

export const SessionPage = PageOf(ref(Session), { description: 'A page of sessions.' })

export const NewSession = StrictObject(
  { key: Type.String({ minLength: 1, maxLength: 255, description: 'Any API key.' }) },
  { $id: 'NewSession', description: 'Sign in.' },
)
