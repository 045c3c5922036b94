import { columnArrays } from '../db/column-arrays.ts'
import { isLockTimeout } from '../db/database-error.ts'
import { type SQL, sql } from '../db/drizzle.ts'
import { idempotencyKeys } from '../db/tables/access.ts'
import type { IdempotencyClaim } from './idempotency.ts'

/** An idempotency key with its response, which is known before its effect is written. */
export interface KnownResponse extends IdempotencyClaim {
  status: number
  headers: Record<string, string>
  body: string
}

const input = columnArrays<{ effectId: string; response: KnownResponse }>({
  effect_id: ['uuid', ({ effectId }) => effectId],
  claim_caller: ['uuid', ({ response }) => response.callerId],
  claim_route: ['text', ({ response }) => response.route],
  claim_key: ['text', ({ response }) => response.key],
  claim_hash: ['text', ({ response }) => response.requestHash],
  claim_status: ['smallint', ({ response }) => response.status],
  claim_headers: ['text', ({ response }) => JSON.stringify(response.headers)],
  claim_body: ['text', ({ response }) => response.body],
  claim_time: ['timestamptz', ({ response }) => response.createdAt.toISOString()],
})

/** The values of its placeholders: for each response the id of the row that is its effect. */
export const keyedValues = input.valuesOf

/**
 * Parts of a `with`: they store responses together with their effects. `claimed` has the effects whose key was free;
 * the statement writes no other. `allowed` selects the effects that will then certainly be written. A key that another
 * transaction is using is waited for only shortly: the requests of the other keys wait, too.
 *
 * `is true` makes PostgreSQL hash what follows `in`. It expects one row of each part, and would choose nested loops.
 */
export const claimingKeys = (allowed: SQL) => sql`
  bounded as materialized (
    select set_config('lock_timeout', '250', true)
  ), claims as materialized (
    select distinct on (claim_caller, claim_route, claim_key) * from ${input.as('claims')}
    where effect_id in (${allowed}) order by claim_caller, claim_route, claim_key
  ), taken as (
    insert into ${idempotencyKeys} (caller_id, route, key, request_hash, status, headers, body, created_at)
    select claim_caller, claim_route, claim_key, claim_hash, claim_status, claim_headers::jsonb, claim_body, claim_time
    from bounded, claims
    on conflict do nothing returning caller_id, route, key
  ), claimed as materialized (
    select effect_id from claims
    where ((claim_caller, claim_route, claim_key) in (select caller_id, route, key from taken)) is true
  )`

/** For such a statement: that it waited too long means that it wrote nothing. */
export function skipLocked(error: unknown): undefined {
  if (!isLockTimeout(error)) throw error
}
