import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum, Uuid } from './parts.ts'
import { ProjectsInReach, User } from './user.ts'

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
    type: StringEnum(['key', 'session'], { description: 'Whether the caller uses an API key or a session.' }),
    id: Uuid('The ID of the key or session.'),
    keyId: Nullable(
      Uuid(
        'The ID of the key, also of a session’s, or null for a person. It identifies the caller as an actor and as an author.',
      ),
    ),
    user: Nullable(Type.Object(User.properties, { description: 'The person, or null if a key is used.' })),
    name: Type.String({ description: 'The name of the person or key.' }),
    scopes: Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
      maxItems: Scope.length,
      description: 'The granted scopes. `admin` includes all others.',
    }),
    projectId: Nullable(
      Uuid('The only project in reach, or null if there are several or all. See `projectIds`.'),
    ),
    projectIds: ProjectsInReach('The projects in reach, or null for all projects.'),
    expiresAt: Nullable(
      DateTime(
        'When the key expires, or the secret that was sent, if it was replaced; null if neither does.',
      ),
    ),
  },
  { $id: 'Me', description: 'The current caller.' },
)
export type Me = Static<typeof Me>
