import { sql } from '../../db/drizzle.ts'
import { deliveries } from '../../db/tables/deliveries.ts'
import type { FeedbackWords } from '../../domain/feedback/summary.ts'

/** Parsing a page of payloads of the largest size would take a tenth of a second. */
const MAX_PARSED_BYTES = 32 * 1024
const MAX_WORD = 100
/** More than is shown. */
const MAX_NOTE = 500

const { receiver, payload, payloadCut } = deliveries

/** A member of the event, if it is text. */
const textOf = (path: string, { max }: { max: number }) => {
  const member = sql.raw(`sent #> '{${path}}'`)
  return sql`case jsonb_typeof(${member}) when 'string' then left(${member} #>> '{}', ${sql.raw(`${max}`)}) end`
}

/**
 * What the payload of a delivery says; null if it is not feedback, or long: its size is known without reading it. A list
 * must not fail for one payload, so those with escapes that `jsonb` does not take are left out.
 */
export const feedbackWords = sql<FeedbackWords | null>`
  case when ${receiver} = 'feedback' and not ${payloadCut}
    and octet_length(${payload}) <= ${sql.raw(`${MAX_PARSED_BYTES}`)} and ${payload} !~* '\\\\u(0000|d[89a-f])'
  then (
    select json_build_object('name', ${textOf('event', { max: MAX_WORD })},
      'sentiment', ${textOf('properties,sentiment', { max: MAX_WORD })},
      'note', ${textOf('properties,note', { max: MAX_NOTE })})
    from (select ${payload}::jsonb as body) as parsed cross join lateral (
      select case jsonb_typeof(body -> 'event') when 'object' then body -> 'event' else body end as sent) as flat
  ) end`
