import { customType, jsonb, text } from '../drizzle.ts'
import { parseTimestamp } from '../parse-timestamp.ts'

/**
 * Millisecond precision as in the API: a cursor taken from a response compares equal to its row. Not drizzle's own,
 * which reads what PostgreSQL writes with `new Date`.
 */
export const timestamptz = customType<{ data: Date; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (time) => time.toISOString(),
  fromDriver: parseTimestamp,
})

const ACTOR_TYPES = ['key', 'session', 'user', 'assistant', 'analytics', 'codehost', 'system'] as const
export type ActorType = (typeof ACTOR_TYPES)[number]
export const actorType = (name: string) => text(name, { enum: ACTOR_TYPES })

/** As digits: the ids of other systems may be larger than a number can be. */
export const bigintText = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' })

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** Secrets that were replaced, as the present one is stored, each valid until a time. The newest first. */
export const previousSecrets = (name: string) =>
  jsonb(name).$type<{ secret: string; until: string }[]>().notNull().default([])
