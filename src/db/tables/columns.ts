import { customType, text, timestamp } from '../drizzle.ts'

/** Millisecond precision as in the API: a cursor taken from a response compares equal to its row. */
export const timestamptz = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

export const actorType = (name: string) =>
  text(name, { enum: ['key', 'session', 'assistant', 'analytics', 'codehost', 'system'] })

/** As digits: the ids of other systems may be larger than a number can be. */
export const bigintText = customType<{ data: string; driverData: string }>({ dataType: () => 'bigint' })

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
