import { type SQL, sql } from '../db/drizzle.ts'

export type FeedbackProperty = 'sentiment' | 'app_version'

/** Whoever sends metadata can send any text. */
const MAX_LENGTH = 100

/** The beginning of a text that was sent with feedback; null if there is none. */
export const feedbackProperty = (name: FeedbackProperty): SQL =>
  sql.raw(`case when jsonb_typeof(metadata -> 'properties' -> '${name}') = 'string'
    then nullif(left(metadata -> 'properties' ->> '${name}', ${MAX_LENGTH}), '') end`)
