import { customType, text, timestamp } from '../drizzle.ts'

/** Millisecond precision as in the API: a cursor taken from a response compares equal to its row. */
export const timestamptz = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

export const actorType = (name: string) =>
  text(name, { enum: ['key', 'session', 'assistant', 'analytics', 'codehost', 'system'] })

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
