import { type Static, Type } from '@sinclair/typebox'
import { Scope } from './caller.ts'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, TrimmedString, Uuid } from './parts.ts'
import { Actor } from './task.ts'

const Scopes = Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
  minItems: 1,
  maxItems: 20,
  description: 'The scopes of the key. `admin` includes all others.',
})

const shown = {
  id: Uuid('The ID of the key. It doesn’t change when the secret is rotated.'),
  name: Type.String({ description: 'The name of the key.' }),
  userId: Nullable(
    Uuid('The person whose personal key it is, which allows no more than the person; null for other keys.'),
  ),
  prefix: Type.String({ description: 'The first characters of the current secret, after `inl_`.' }),
  lastFour: Type.String({ description: 'The last four characters of the current secret.' }),
  scopes: Scopes,
  projectId: Nullable(
    Uuid(
      'The project that the key is bound to, or null if it can access all projects, or all of its person.',
    ),
  ),
  expiresAt: Nullable(DateTime('When the key expires, or null if it doesn’t.')),
  previousSecretExpiresAt: Nullable(DateTime('When the previous secret expires, or null if there is none.')),
  lastUsedAt: Nullable(DateTime('When the key was last used, accurate to a few seconds, or null if never.')),
  createdAt: DateTime('When the key was created.'),
  createdBy: Nullable(
    Type.Object(Actor.properties, {
      description: 'Who created the key, or null if it is older than this field.',
    }),
  ),
}

export const ApiKey = Type.Object(shown, { $id: 'ApiKey', description: 'A key, without its secret.' })
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyWithSecret = Type.Object(
  {
    ...shown,
    key: Type.String({ description: 'The secret. It is only returned once.' }),
  },
  { $id: 'ApiKeyWithSecret', description: 'An API key with its new secret.' },
)
export type ApiKeyWithSecret = Static<typeof ApiKeyWithSecret>

export const ApiKeyPage = PageOf(ref(ApiKey), { description: 'A page of API keys.' })

export const NewApiKey = StrictObject(
  {
    name: TrimmedString(100, {
      description: 'A name for the key, 1 to 100 characters after trimming.',
      examples: ['ci'],
    }),
    scopes: Type.Optional({ ...Scopes, default: Scope.filter((scope) => scope !== 'admin') }),
    projectId: Type.Optional(
      Nullable(
        Uuid('Binds the key to a project. It can’t access anything else, except rules for all projects.'),
      ),
    ),
    expiresAt: Type.Optional(
      Nullable(DateTime('When the key expires. It can’t outlive the key that creates it.')),
    ),
  },
  { $id: 'NewApiKey', description: 'The API key to create.' },
)
export type NewApiKey = Static<typeof NewApiKey>

export const NewPersonalKey = StrictObject(
  {
    name: NewApiKey.properties.name,
    scopes: Type.Optional({
      ...Scopes,
      description: 'The scopes of the key. If omitted, all that your role allows, except `admin`.',
    }),
    projectId: Type.Optional(Nullable(Uuid('Binds the key to one of your projects.'))),
    expiresAt: Type.Optional(Nullable(DateTime('When the key expires.'))),
  },
  { $id: 'NewPersonalKey', description: 'The personal key to create. It never allows more than you may do.' },
)
export type NewPersonalKey = Static<typeof NewPersonalKey>

export const Rotation = StrictObject(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * 86_400,
        default: 86_400,
        description: 'How long the previous secret keeps working, in seconds. At most 30 days.',
      }),
    ),
  },
  { $id: 'Rotation', description: 'How to rotate a secret.' },
)
export type Rotation = Static<typeof Rotation>
