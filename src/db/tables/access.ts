import { check, index, jsonb, pgTable, primaryKey, smallint, sql, text, uuid } from '../drizzle.ts'
import { actorType, timestamptz } from './columns.ts'
import { users } from './people.ts'
import { projects } from './projects.ts'

/** API keys. A revoked key is kept, so that a restart does not create it again. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** The person whose personal key it is; null for keys of other systems. */
    userId: uuid('user_id').references(() => users.id),
    scopes: text('scopes').array().notNull(),
    projectId: uuid('project_id').references(() => projects.id),
    expiresAt: timestamptz('expires_at'),
    revokedAt: timestamptz('revoked_at'),
    lastUsedAt: timestamptz('last_used_at'),
    createdAt: timestamptz('created_at').notNull(),
    /** Null for keys of earlier versions. */
    createdByType: actorType('created_by_type'),
    createdById: uuid('created_by_id'),
    createdByName: text('created_by_name'),
  },
  (table) => [index('api_keys_user').on(table.userId, table.id)],
)

/** The SHA-256 of each valid secret of a key. Two while a rotation overlaps. */
export const apiKeySecrets = pgTable(
  'api_key_secrets',
  {
    hash: text('hash').primaryKey(),
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id),
    prefix: text('prefix').notNull(),
    lastFour: text('last_four').notNull(),
    expiresAt: timestamptz('expires_at'),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [index('api_key_secrets_key').on(table.keyId)],
)

/** Dashboard sessions, each of a person, or of a key: then it ends with the secret that opened it. */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    /** SHA-256 of the cookie's value. */
    hash: text('hash').notNull().unique(),
    keyId: uuid('key_id').references(() => apiKeys.id),
    secretHash: text('secret_hash').references(() => apiKeySecrets.hash),
    userId: uuid('user_id').references(() => users.id),
    userAgent: text('user_agent'),
    createdAt: timestamptz('created_at').notNull(),
    lastSeenAt: timestamptz('last_seen_at').notNull(),
  },
  (table) => [
    index('sessions_key').on(table.keyId),
    index('sessions_user').on(table.userId),
    index('sessions_last_seen').on(table.lastSeenAt),
    check(
      'sessions_holder',
      sql`num_nonnulls(key_id, user_id) = 1 and (key_id is null) = (secret_hash is null)`,
    ),
  ],
)

/** Secrets that authenticate senders of feedback. */
export const webhookSecrets = pgTable('webhook_secrets', {
  id: uuid('id').primaryKey(),
  /** SHA-256 of the secret. */
  hash: text('hash').notNull().unique(),
  lastFour: text('last_four').notNull(),
  createdAt: timestamptz('created_at').notNull(),
  expiresAt: timestamptz('expires_at'),
  revokedAt: timestamptz('revoked_at'),
  lastUsedAt: timestamptz('last_used_at'),
})

/** Responses stored for a day, so that a repeated request returns the first response and is not run again. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    callerId: uuid('caller_id').notNull(),
    /** Method and path of the request. */
    route: text('route').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the request. */
    requestHash: text('request_hash').notNull(),
    /** Null only inside the transaction that is still running. */
    status: smallint('status'),
    headers: jsonb('headers'),
    body: text('body'),
    /** While this is set and in the future, the response is not final and may be replaced once. */
    completesBy: timestamptz('completes_by'),
    createdAt: timestamptz('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.callerId, table.route, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
)
