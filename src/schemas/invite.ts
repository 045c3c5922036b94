import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, StrictObject, Uuid } from './parts.ts'
import { PasskeyRegistration } from './passkey.ts'
import { Actor } from './task.ts'
import {
  Email,
  Password,
  PersonName,
  ProjectIds,
  ProjectsInReach,
  ROLE_TEXT,
  RoleOf,
  Username,
} from './user.ts'

const shown = {
  id: Uuid('The ID of the invite.'),
  userId: Nullable(Uuid('The person who gets a new password, or null if somebody new is invited.')),
  name: Nullable(Type.String({ description: 'The name of who is invited, or null for a new password.' })),
  email: Nullable(Type.String({ description: 'The email address of who is invited, or null.' })),
  role: Nullable(RoleOf(`The role of who is invited, or null for a new password. ${ROLE_TEXT}`)),
  projectIds: ProjectsInReach('The projects of who is invited, or null for all.'),
  invitedBy: Type.Object(Actor.properties, { description: 'Who created the invite.' }),
  createdAt: DateTime('When the invite was created.'),
  expiresAt: DateTime('When the invite expires: after 7 days.'),
}

export const Invite = Type.Object(shown, { $id: 'Invite', description: 'An invite, without its secret.' })
export type Invite = Static<typeof Invite>

export const InviteWithSecret = Type.Object(
  {
    ...shown,
    secret: Type.String({ description: 'The secret that accepts the invite. It is only returned once.' }),
    url: Nullable(
      Type.String({
        description: 'The page that accepts the invite, or null if `PUBLIC_URL` is not set.',
      }),
    ),
  },
  { $id: 'InviteWithSecret', description: 'An invite with its secret.' },
)
export type InviteWithSecret = Static<typeof InviteWithSecret>

export const InvitePage = PageOf(ref(Invite), { description: 'A page of invites.' })

export const NewInvite = StrictObject(
  {
    name: Type.Optional(PersonName),
    email: Type.Optional(Nullable(Email)),
    role: Type.Optional(RoleOf(ROLE_TEXT)),
    projectIds: Type.Optional(
      Nullable(ProjectIds('The projects to give access to. Omit it for all; owners access all.')),
    ),
    userId: Type.Optional(
      Uuid('Instead of all others: a person who has lost the password and gets a new one.'),
    ),
  },
  {
    $id: 'NewInvite',
    description:
      'Either `name` and `role` of somebody new, or `userId` of a person who has lost the password.',
  },
)
export type NewInvite = Static<typeof NewInvite>

const accepting = {
  secret: Type.String({
    minLength: 1,
    maxLength: 255,
    writeOnly: true,
    description: 'The secret of the invite.',
  }),
  username: Type.Optional(Username),
  name: Type.Optional(PersonName),
}

export const InvitePasskey = StrictObject(accepting, {
  $id: 'InvitePasskey',
  description: 'Who accepts the invite, as it is accepted afterwards.',
})
export type InvitePasskey = Static<typeof InvitePasskey>

export const InviteAcceptance = StrictObject(
  {
    ...accepting,
    password: Type.Optional(Password),
    passkey: Type.Optional(ref(PasskeyRegistration)),
  },
  {
    $id: 'InviteAcceptance',
    description:
      'Either `password` or `passkey`. Somebody new chooses a `username`; without `name`, the person has that of the invite. An invite for a new password takes neither.',
  },
)
export type InviteAcceptance = Static<typeof InviteAcceptance>
