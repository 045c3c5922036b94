import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'

export const Role = ['owner', 'member', 'viewer'] as const
export type Role = (typeof Role)[number]

export const RoleOf = (description: string) => StringEnum([...Role], { description })

export const ROLE_TEXT =
  'An `owner` can do everything, in all projects. A `member` has all scopes except `admin` and `metrics:read`. A `viewer` has `tasks:read` and `rules:read`.'

const MAX_PROJECTS = 20

export const ProjectIds = (description: string) =>
  Type.Array(Uuid('The ID of a project.'), { minItems: 1, maxItems: MAX_PROJECTS, description })

/** The projects that somebody can access, as responses show them; null for all. */
export const ProjectsInReach = (description: string) =>
  Nullable(Type.Array(Type.String(), { maxItems: MAX_PROJECTS, description }))

export const Username = Type.String({
  pattern: '^[a-z0-9-]{2,39}$',
  'x-words': '2 to 39 characters of a-z, 0-9 and hyphen',
  description:
    'The name to sign in and to be mentioned with: 2 to 39 characters of a-z, 0-9 and hyphen. It can’t be changed later. `me` and `none` are reserved.',
  examples: ['ada'],
})

/** Without characters that reorder what is shown: a name must not look like another one. */
export const PersonName = Type.String({
  minLength: 1,
  maxLength: 100,
  'x-trim': true,
  pattern: '^[^\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$',
  'x-words': 'text without control characters',
  description: 'The name that others see, 1 to 100 characters after trimming.',
  examples: ['Ada Lovelace'],
})

export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  'x-words': 'an email address',
  description: 'An email address. It never identifies anybody.',
  examples: ['ada@example.com'],
})

export const Password = Type.String({
  minLength: 12,
  maxLength: 128,
  writeOnly: true,
  description: 'A password of 12 to 128 characters.',
})

export const User = Type.Object(
  {
    id: Uuid('The ID of the person.'),
    username: Type.String({ description: 'The name that the person signs in with.' }),
    name: Type.String({ description: 'The name that others see.' }),
    email: Nullable(Type.String({ description: 'The email address, or null if there is none.' })),
    role: RoleOf(ROLE_TEXT),
    projectIds: ProjectsInReach('The projects that the person can access, or null for all.'),
    isActive: Type.Boolean({ description: 'Whether the person can sign in.' }),
    lastSeenAt: Nullable(
      DateTime('When the person last used the service, accurate to a few seconds, or null if never.'),
    ),
    createdAt: DateTime('When the person accepted the invite.'),
  },
  { $id: 'User', description: 'A person who can sign in.' },
)
export type User = Static<typeof User>

export const UserPage = PageOf(ref(User), { description: 'A page of people.' })

export const UserQuery = StrictObject(
  {
    role: Type.Optional(RoleOf('Only people with this role.')),
    isActive: Type.Optional(Type.Boolean({ description: 'Only people who can sign in, or only who can’t.' })),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type UserQuery = Static<typeof UserQuery>

export const UserChange = StrictObject(
  {
    name: Type.Optional(PersonName),
    email: Type.Optional(Nullable(Email)),
    role: Type.Optional(RoleOf(ROLE_TEXT)),
    projectIds: Type.Optional(
      Nullable(ProjectIds('The projects that the person can access, or null for all. Owners access all.')),
    ),
    isActive: Type.Optional(
      Type.Boolean({
        description: 'False deactivates the person, which ends sessions and claims at once.',
      }),
    ),
  },
  { $id: 'UserChange', description: 'The fields to change.', minProperties: 1 },
)
export type UserChange = Static<typeof UserChange>

export const ChangedUser = Type.Object(
  {
    ...User.properties,
    keysToRotate: Type.Array(
      Type.Object(
        {
          id: Uuid('The ID of the key.'),
          name: Type.String({ description: 'The name of the key.' }),
        },
        { description: 'A key.' },
      ),
      {
        maxItems: 100,
        description:
          'If the person was deactivated: valid API keys that the person created, and so may know. At most 100.',
      },
    ),
  },
  { $id: 'ChangedUser', description: 'A person after a change.' },
)
export type ChangedUser = Static<typeof ChangedUser>

export const Person = Type.Object(
  {
    id: Uuid('The ID of the person.'),
    username: Type.String({ description: 'The name to mention the person with.' }),
    name: Type.String({ description: 'The name that others see.' }),
  },
  { $id: 'Person', description: 'An active person who can access a project that you can access.' },
)
export type Person = Static<typeof Person>

export const PersonPage = PageOf(ref(Person), { description: 'A page of people.' })

export const NameChange = StrictObject(
  { name: Type.Optional(PersonName), email: Type.Optional(Nullable(Email)) },
  { $id: 'NameChange', description: 'The fields to change.', minProperties: 1 },
)
export type NameChange = Static<typeof NameChange>

export const PasswordChange = StrictObject(
  { password: Password },
  { $id: 'PasswordChange', description: 'The new password.' },
)
export type PasswordChange = Static<typeof PasswordChange>
