import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum, Uuid } from './parts.ts'

export const Scope = [
  'tasks:read',
  'tasks:write',
  'rules:read',
  'rules:write',
  'activity:write',
  'codehost:sync',
  'metrics:read',
  'admin',
] as const
export type Scope = (typeof Scope)[number]

export const Me = Type.Object(
  {
    type: StringEnum(['key', 'session'], { description: 'How the caller came in.' }),
    id: Uuid('Identifier of the key or session.'),
    name: Type.String({ description: 'Its name.' }),
    scopes: Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
      maxItems: Scope.length,
      description: 'The scopes as granted; `admin` implies the rest.',
    }),
    projectId: Nullable(Uuid('The project the key is bound to; null when it reaches all.')),
    expiresAt: Nullable(DateTime('When it stops working; null for never.')),
  },
  { $id: 'Me', description: 'Who the service takes you for.' },
)
export type Me = Static<typeof Me>
