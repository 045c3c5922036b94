import { type Static, Type } from '@sinclair/typebox'
import { Scope } from './caller.ts'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

export const Session = Type.Object(
  {
    id: Uuid('Identifier of the session.'),
    keyId: Uuid('The key it was opened with; it dies with it.'),
    name: Type.String({ description: 'The name of that key.' }),
    scopes: Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
      maxItems: Scope.length,
      description: 'The scopes of that key.',
    }),
    projectId: Nullable(Uuid('The project that key is bound to.')),
    userAgent: Nullable(Type.String({ description: 'The browser that opened it.' })),
    isCurrent: Type.Boolean({ description: 'Whether this very request came with it.' }),
    createdAt: DateTime('When it was opened.'),
    lastSeenAt: DateTime('When it was last used, to within a minute.'),
    expiresAt: DateTime('When it ends if nothing comes: 12 hours after it was last used, or with its key.'),
  },
  { $id: 'Session', description: 'Somebody signed in to the dashboard.' },
)
export type Session = Static<typeof Session>

export const SessionPage = PageOf(ref(Session), 'A page of sessions.')

export const NewSession = StrictObject(
  { key: Type.String({ minLength: 1, maxLength: 255, description: 'Any API key.' }) },
  { $id: 'NewSession', description: 'Sign in.' },
)
