import { type Static, Type } from '@sinclair/typebox'
import { Scope } from './caller.ts'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, TrimmedString, Uuid } from './parts.ts'

const Scopes = Type.Array(StringEnum([...Scope], { description: 'A scope.' }), {
  minItems: 1,
  maxItems: 20,
  description: 'What the key may do; `admin` implies the rest.',
})

const shown = {
  id: Uuid('Identifier of the key; it stays when the secret is rotated.'),
  name: Type.String({ description: 'What it is for.' }),
  prefix: Type.String({ description: 'How its newest secret begins, after `inl_`.' }),
  lastFour: Type.String({ description: 'How its newest secret ends.' }),
  scopes: Scopes,
  projectId: Nullable(Uuid('The project it is bound to; null when it reaches all.')),
  expiresAt: Nullable(DateTime('When it stops working; null for never.')),
  previousSecretExpiresAt: Nullable(
    DateTime('After a rotation: until when the secret before works as well.'),
  ),
  lastUsedAt: Nullable(DateTime('When it was last used, to within some seconds; null for never.')),
  createdAt: DateTime('When it was made.'),
}

export const ApiKey = Type.Object(shown, { $id: 'ApiKey', description: 'A key, without its secret.' })
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyWithSecret = Type.Object(
  {
    ...shown,
    key: Type.String({ description: 'The whole secret. This answer is the only one that holds it.' }),
  },
  { $id: 'ApiKeyWithSecret', description: 'A key with its new secret, which is shown this once.' },
)
export type ApiKeyWithSecret = Static<typeof ApiKeyWithSecret>

export const ApiKeyPage = PageOf(ref(ApiKey), 'A page of keys.')

export const NewApiKey = StrictObject(
  {
    name: TrimmedString(100, 'What it is for. 1 to 100 characters after trimming.', ['ci']),
    scopes: Type.Optional({ ...Scopes, default: Scope.filter((scope) => scope !== 'admin') }),
    projectId: Type.Optional(
      Nullable(Uuid('Binds it to a project: it sees nothing outside but the global rules.')),
    ),
    expiresAt: Type.Optional(
      Nullable(DateTime('When it stops working. Not later than the key that makes it.')),
    ),
  },
  { $id: 'NewApiKey', description: 'A key to be made.' },
)
export type NewApiKey = Static<typeof NewApiKey>

export const Rotation = StrictObject(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * 86_400,
        default: 86_400,
        description: 'For how long the secret before works as well, in seconds. At most 30 days.',
      }),
    ),
  },
  { $id: 'Rotation', description: 'How to rotate a secret.' },
)
export type Rotation = Static<typeof Rotation>
