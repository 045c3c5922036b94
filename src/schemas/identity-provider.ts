import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, ref, SentSecret, StrictObject, StringEnum, TrimmedString } from './parts.ts'
import { PersonName, ProjectIds, ProjectsInReach, Role, Username } from './user.ts'

/** In addition to the one of the environment. */
export const MAX_IDENTITY_PROVIDERS = 5

/** The ID of the provider that the environment describes. */
export const ENVIRONMENT_PROVIDER = 'env'

const ProviderId = (description: string) =>
  Type.String({
    pattern: '^(env|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
    'x-words': 'a UUID, or env',
    maxLength: 36,
    description,
    examples: ['019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'],
  })

const ID_TEXT = 'The ID of the identity provider; `env` for the one of the environment.'

export const IdentityProviderPath = StrictObject(
  { id: ProviderId(ID_TEXT) },
  { description: 'Path parameters.' },
)
export type IdentityProviderPath = Static<typeof IdentityProviderPath>

const Name = TrimmedString(100, {
  description: 'The name on the sign-in page, 1 to 100 characters after trimming.',
  examples: ['Keycloak'],
})
const Issuer = Type.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://',
  maxLength: 255,
  description:
    'The issuer, exactly as the provider writes it. https, except for an address of this machine. It can’t be changed later.',
  examples: ['https://login.example.com/realms/acme'],
})
const ClientId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The ID that the provider has given to Inlet.',
  examples: ['inlet'],
})
const ClientSecret = Type.String({
  ...SentSecret,
  minLength: 1,
  maxLength: 1_000,
  description: 'The secret that the provider has given to Inlet. It is stored encrypted, and never returned.',
})
const Scopes = Type.Array(
  Type.String({
    pattern: '^[!#-\\[\\]-~]{1,100}$',
    'x-words': 'ASCII characters without spaces, quotes and backslashes',
    maxLength: 100,
    description: 'A scope.',
    examples: ['groups'],
  }),
  { maxItems: 20, description: 'The scopes that Inlet asks for. `openid` is always one of them.' },
)
const Group = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })
const GroupsClaim = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The claim that lists the groups of a person.',
  examples: ['groups'],
})
const RoleByGroup = Type.Unsafe<Record<string, Role>>({
  type: 'object',
  additionalProperties: StringEnum([...Role], { description: 'The role of the members of the group.' }),
  maxProperties: 100,
  description:
    'The role of each group. If set, each sign-in sets the role: the strongest of the person’s groups, or that of `newUsers` if none of them is listed. Without the claim, the role stays.',
  examples: [{ 'inlet-admins': 'owner' }],
})
const CreateUsers = StringEnum(['invited', 'allowed'], {
  description:
    '`invited`: only people who have linked the provider, or accept an invite there. `allowed`: also everybody whom `allowedDomains` or `requiredGroup` lets in; they are created at their first sign-in.',
})
const AllowedDomains = Type.Array(
  Type.String({
    pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
    'x-words': 'a domain in lower case, such as example.com',
    maxLength: 253,
    description: 'A domain; not those below it.',
    examples: ['example.com'],
  }),
  {
    maxItems: 20,
    description:
      'Lets in somebody new whose email address the provider has verified, and is in one of these domains.',
  },
)
const NewUsers = StrictObject(
  {
    role: StringEnum(['member', 'viewer'], { description: 'The role of people who are created.' }),
    projectIds: Type.Optional(Nullable(ProjectIds('The projects to give access to, or null for all.'))),
  },
  { description: 'What people get who are created at their first sign-in.' },
)
const IsActive = Type.Boolean({ description: 'Whether people can sign in with the provider.' })

const settings = {
  name: Name,
  clientId: ClientId,
  clientSecret: ClientSecret,
  scopes: Scopes,
  groupsClaim: GroupsClaim,
  requiredGroup: Nullable(Group('Only members of this group can sign in, or null for everybody.')),
  roleByGroup: RoleByGroup,
  createUsers: CreateUsers,
  allowedDomains: AllowedDomains,
  newUsers: Nullable(NewUsers),
  isActive: IsActive,
}

const { clientSecret: _secret, newUsers: _newUsers, ...shown } = settings

export const IdentityProvider = Type.Object(
  {
    id: ProviderId(ID_TEXT),
    issuer: Issuer,
    ...shown,
    newUsers: Nullable(
      Type.Object(
        {
          role: StringEnum(['member', 'viewer'], { description: 'The role of people who are created.' }),
          projectIds: ProjectsInReach('Their projects, or null for all.'),
        },
        { description: 'What people get who are created, or null if nobody is.' },
      ),
    ),
    redirectUrl: Nullable(
      Type.String({
        description:
          'The redirect URL to register with the provider, or null if `PUBLIC_URL` is not set: nobody can sign in then.',
      }),
    ),
    createdAt: Nullable(DateTime('When the provider was added, or null for the one of the environment.')),
  },
  { $id: 'IdentityProvider', description: 'An identity provider, without its secret.' },
)
export type IdentityProvider = Static<typeof IdentityProvider>

export const IdentityProviderList = Type.Object(
  {
    data: Type.Array(ref(IdentityProvider), {
      maxItems: MAX_IDENTITY_PROVIDERS + 1,
      description: 'All identity providers, oldest first. The one of the environment is the first.',
    }),
    nextCursor: Type.Null({ description: 'Always null: the list has one page.' }),
  },
  { description: 'All identity providers.' },
)

export const NewIdentityProvider = StrictObject(
  {
    name: Name,
    issuer: Issuer,
    clientId: ClientId,
    clientSecret: ClientSecret,
    scopes: Type.Optional({ ...Scopes, default: ['openid', 'profile', 'email'] }),
    groupsClaim: Type.Optional({ ...GroupsClaim, default: 'groups' }),
    requiredGroup: Type.Optional(settings.requiredGroup),
    roleByGroup: Type.Optional(RoleByGroup),
    createUsers: Type.Optional({ ...CreateUsers, default: 'invited' }),
    allowedDomains: Type.Optional(AllowedDomains),
    newUsers: Type.Optional(settings.newUsers),
    isActive: Type.Optional({ ...IsActive, default: true }),
  },
  {
    $id: 'NewIdentityProvider',
    description:
      'The identity provider to add. `allowed` needs `newUsers`, and `allowedDomains` or `requiredGroup`; `roleByGroup` needs `newUsers`.',
  },
)
export type NewIdentityProvider = Static<typeof NewIdentityProvider>

export const IdentityProviderChange = StrictObject(
  {
    name: Type.Optional(Name),
    clientId: Type.Optional(ClientId),
    clientSecret: Type.Optional(ClientSecret),
    scopes: Type.Optional(Scopes),
    groupsClaim: Type.Optional(GroupsClaim),
    requiredGroup: Type.Optional(settings.requiredGroup),
    roleByGroup: Type.Optional(RoleByGroup),
    createUsers: Type.Optional(CreateUsers),
    allowedDomains: Type.Optional(AllowedDomains),
    newUsers: Type.Optional(settings.newUsers),
    isActive: Type.Optional(IsActive),
  },
  {
    $id: 'IdentityProviderChange',
    description: 'The fields to update. Omitted fields keep their values.',
    minProperties: 1,
  },
)
export type IdentityProviderChange = Static<typeof IdentityProviderChange>

export const DeletedIdentityProvider = StrictObject(
  {
    confirm: Type.Optional(
      Type.Boolean({ description: 'Deletes the provider although some people have no other way in.' }),
    ),
  },
  { description: 'Whether to delete a provider that some people depend on.' },
)

const Step = (description: string) =>
  Type.Object(
    {
      step: StringEnum(['discovery', 'keys', 'redirect'], {
        description:
          '`discovery` reads the configuration of the provider, `keys` the keys that it signs with; `redirect` is the URL to register with it.',
      }),
      isOk: Type.Boolean({ description: 'Whether the step succeeded.' }),
      message: Type.String({ description: 'What was found, or what is wrong.' }),
    },
    { description },
  )

export const IdentityProviderTest = Type.Object(
  {
    isOk: Type.Boolean({ description: 'Whether all steps succeeded.' }),
    steps: Type.Array(Step('A step.'), {
      maxItems: 3,
      description: 'The steps in their order. Those after a failed one are omitted, except for `redirect`.',
    }),
  },
  { $id: 'IdentityProviderTest', description: 'What a test of an identity provider found.' },
)
export type IdentityProviderTest = Static<typeof IdentityProviderTest>

export const Identity = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The ID of the link.' }),
    providerId: ProviderId(ID_TEXT),
    providerName: Nullable(
      Type.String({
        description: 'The name of the provider, or null if it was removed from the environment.',
      }),
    ),
    createdAt: DateTime('When the provider was linked.'),
    lastUsedAt: DateTime('When the person last signed in with it.'),
  },
  { $id: 'Identity', description: 'An identity provider that a person signs in with.' },
)
export type Identity = Static<typeof Identity>

export const IdentityList = Type.Object(
  {
    data: Type.Array(ref(Identity), {
      maxItems: 50,
      description: 'The linked identities, oldest first.',
    }),
    nextCursor: Type.Null({ description: 'Always null: the list has one page.' }),
  },
  { description: 'All linked identities of the person.' },
)

export const NewIdentity = StrictObject(
  { providerId: ProviderId('The identity provider to link.') },
  { $id: 'NewIdentity', description: 'The identity provider to link.' },
)
export type NewIdentity = Static<typeof NewIdentity>

export const InviteAtProvider = StrictObject(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: 255,
      writeOnly: true,
      description: 'The secret of the invite.',
    }),
    providerId: ProviderId('The identity provider to sign in with.'),
    username: Type.Optional(Username),
    name: Type.Optional(PersonName),
  },
  {
    $id: 'InviteAtProvider',
    description:
      'Somebody new chooses a `username`; without `name`, the person has that of the invite. An invite for a new password takes neither.',
  },
)
export type InviteAtProvider = Static<typeof InviteAtProvider>

export const BegunSignIn = Type.Object(
  {
    url: Type.String({
      description:
        'The page of the provider to open next, in the same browser and within ten minutes. It returns to `/auth/{id}/callback`.',
    }),
  },
  { $id: 'BegunSignIn', description: 'A sign-in that was begun at an identity provider.' },
)
export type BegunSignIn = Static<typeof BegunSignIn>
