import {
  bigint,
  boolean,
  check,
  customType,
  index,
  jsonb,
  pgTable,
  sql,
  text,
  unique,
  uuid,
} from '../drizzle.ts'
import { actorType, bytea, timestamptz } from './columns.ts'

const role = (name: string) => text(name, { enum: ['owner', 'member', 'viewer'] })

/** The reach of a person: all projects, or 1 to 20 of them. Owners reach all. */
const reachCheck = sql`project_ids is null or (role <> 'owner' and cardinality(project_ids) between 1 and 20)`

/** People who sign in. They are deactivated, never deleted. */
export const users = pgTable(
  'users',
  {
    /** UUIDv7 created from `created_at`; also the sort order. */
    id: uuid('id').primaryKey(),
    username: text('username').notNull().unique(),
    name: text('name').notNull(),
    email: text('email'),
    role: role('role').notNull(),
    projectIds: uuid('project_ids').array(),
    isActive: boolean('is_active').notNull(),
    lastSeenAt: timestamptz('last_seen_at'),
    createdAt: timestamptz('created_at').notNull(),
  },
  () => [check('users_reach', reachCheck)],
)

/** The password of a person, if there is one. */
export const passwords = pgTable('passwords', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id),
  /** argon2id, with its parameters and salt. */
  hash: text('hash').notNull(),
})

/** Passkeys of people, any number each. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    /** What the authenticator calls it, in base64url. */
    credentialId: text('credential_id').notNull().unique(),
    /** As a COSE key. */
    publicKey: bytea('public_key').notNull(),
    /** How often it was used; 0 for authenticators that do not count. A copy of a passkey makes it go back. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    /** The host name that it works at. */
    rpId: text('rp_id').notNull(),
    /** How browsers reach its authenticator. */
    transports: text('transports').array().notNull(),
    name: text('name').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    lastUsedAt: timestamptz('last_used_at'),
  },
  (table) => [index('passkeys_user').on(table.userId)],
)

/** Invites that were not accepted: of somebody new, or of a person who has lost the password. */
export const invites = pgTable(
  'invites',
  {
    id: uuid('id').primaryKey(),
    /** SHA-256 of the secret. */
    hash: text('hash').notNull().unique(),
    /** The person who gets a new password; null for somebody new. */
    userId: uuid('user_id').references(() => users.id),
    name: text('name'),
    email: text('email'),
    role: role('role'),
    projectIds: uuid('project_ids').array(),
    invitedByType: actorType('invited_by_type').notNull(),
    invitedById: uuid('invited_by_id'),
    invitedByName: text('invited_by_name').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    expiresAt: timestamptz('expires_at').notNull(),
  },
  (table) => [
    index('invites_user').on(table.userId),
    check('invites_reach', reachCheck),
    // A new password brings no rights.
    check(
      'invites_person',
      sql`num_nonnulls(user_id, role) = 1 and (role is null) = (name is null)
      and (user_id is null or project_ids is null)`,
    ),
  ],
)

/** Sign-ins that were begun: with a passkey, or at an identity provider. Each can be completed once. */
export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    /** SHA-256 of the value of the cookie that ties it to the browser that began it. */
    hash: text('hash').primaryKey(),
    /** What its completion is checked against. */
    checks: jsonb('checks').notNull(),
    /** The person who adds this way to sign in; null for somebody who signs in. */
    userId: uuid('user_id').references(() => users.id),
    expiresAt: timestamptz('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_attempts_user').on(table.userId),
    index('sign_in_attempts_expires').on(table.expiresAt),
  ],
)

/** Identity providers that people sign in at, in addition to the one of the environment. */
export const identityProviders = pgTable('identity_providers', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  issuer: text('issuer').notNull(),
  clientId: text('client_id').notNull(),
  /** Encrypted. */
  clientSecret: text('client_secret').notNull(),
  scopes: text('scopes').array().notNull(),
  groupsClaim: text('groups_claim').notNull(),
  requiredGroup: text('required_group'),
  roleByGroup: jsonb('role_by_group').$type<Record<string, 'owner' | 'member' | 'viewer'>>().notNull(),
  createUsers: text('create_users', { enum: ['invited', 'allowed'] }).notNull(),
  allowedDomains: text('allowed_domains').array().notNull(),
  newUsers: jsonb('new_users').$type<{ role: 'member' | 'viewer'; projectIds: string[] | null }>(),
  isActive: boolean('is_active').notNull(),
  createdAt: timestamptz('created_at').notNull(),
})

/** Compared byte by byte: whoever differs in case is somebody else. */
const exactText = customType<{ data: string }>({ dataType: () => 'text collate "C"' })

/** Whom identity providers know, each as a person. */
export const identities = pgTable(
  'identities',
  {
    id: uuid('id').primaryKey(),
    issuer: exactText('issuer').notNull(),
    subject: exactText('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id),
    /** Of a row of `identity_providers`, or `env`. */
    providerId: text('provider_id').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    lastUsedAt: timestamptz('last_used_at').notNull(),
    /** Where the provider sent the browser at the last sign-in; null before this was stored. */
    redirectUrl: text('redirect_url'),
    /** Whether the groups at the last sign-in decided the role of the person. */
    isRoleManaged: boolean('is_role_managed').notNull(),
  },
  (table) => [
    unique('identities_subject').on(table.issuer, table.subject),
    index('identities_user').on(table.userId),
    index('identities_provider').on(table.providerId),
  ],
)
