import { type SQL, sql } from '../../db/drizzle.ts'
import { codehostConnections } from '../../db/tables/codehost.ts'
import { identityProviders } from '../../db/tables/people.ts'
import { pipePauses, pipes } from '../../db/tables/pipes.ts'
import { projects } from '../../db/tables/projects.ts'
import { sources } from '../../db/tables/sources.ts'
import { webhooks } from '../../db/tables/webhooks.ts'
import { databaseTime } from '../codehost/database-time.ts'

/** The identity provider of the environment, which has no row. */
export interface EnvironmentPipe {
  name: string
  issuer: string
}

/** How many days before the last attempt pauses are compared with. */
const PAUSE_DAYS = 28

/** A shorter one is no silence. */
const SHORTEST_SILENCE = sql.raw(`interval '1 hour'`)

/** A day in UTC, such as 2026-11-21. */
export const dayOf = (time: SQL) => sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD')`

/** The first day of the pauses that count. */
export const firstDayOf = (lastAttemptAt: SQL) =>
  dayOf(sql`(${lastAttemptAt} - ${PAUSE_DAYS} * interval '1 day')`)

/**
 * Everything that the service can receive or send through. `is_on` says whether no user has switched it off, `is_given_up`
 * whether the service has, and `is_regular` whether it is expected to be used.
 */
export const configuredPipes = (environment: EnvironmentPipe | undefined) => sql`
  select kind, configured.id, configured.name, project_id, is_on and archived_at is null as is_on, is_given_up, is_regular
  from (
    select 'feedback' as kind, 'feedback' as id, 'Feedback' as name, null::uuid as project_id, true as is_on,
      false as is_given_up, true as is_regular
    union all
    select 'source', id::text, name, project_id, is_active or disabled_reason is not null,
      not is_active and disabled_reason is not null, true from ${sources}
    union all
    select 'sync', id::text, repository, project_id, true, false, schedule <> 'off' from ${codehostConnections}
    union all
    select 'push', id::text, repository, project_id, webhook_secret is not null, false, true
    from ${codehostConnections}
    union all
    select 'write_back', id::text, repository, project_id, write_back <> 'off', false, true
    from ${codehostConnections}
    union all
    select 'webhook', id::text, name, project_id, is_active or coalesce(disabled_reason in ('failed', 'gone'), false),
      not is_active and coalesce(disabled_reason in ('failed', 'gone'), false), true from ${webhooks}
    union all
    select 'identity_provider', id::text, name, null, is_active, false, true from ${identityProviders}
    ${environment ? ofEnvironment(environment) : sql``}
  ) as configured left join ${projects} on projects.id = project_id`

/** Another one with its issuer replaces it. */
const ofEnvironment = ({ name, issuer }: EnvironmentPipe) => sql`
    union all
    select 'identity_provider', 'env', ${name}::text, null, true, false, true
    where not exists (select from ${identityProviders} where rtrim(issuer, '/') = rtrim(${issuer}::text, '/'))`

const longestPause = sql`
  select max(longest_seconds) as seconds, count(*) as days from ${pipePauses}
  where (pipe_pauses.kind, pipe_pauses.id) = (pipes.kind, pipes.id)
    and day >= ${firstDayOf(sql`pipes.last_attempt_at`)}`

const silence = sql`${databaseTime} - last_attempt_at`

/** The same with their states. */
export const pipesWithState = (environment: EnvironmentPipe | undefined) => sql`
  select configured.kind, configured.id, configured.name, project_id, last_success_at, last_error_at, error_code,
    error_detail, failing_since, is_given_up,
    case
      when not is_on or last_attempt_at is null then 'off'
      when is_given_up or failing_since is not null then 'failing'
      when is_regular and ${silence} > ${SHORTEST_SILENCE} and (
        select days > 1 and ${silence} > 3 * seconds * interval '1 second' from (${longestPause}) as pause
      ) then 'silent'
      else 'ok'
    end as state
  from (${configuredPipes(environment)}) as configured
  left join ${pipes} on (pipes.kind, pipes.id) = (configured.kind, configured.id)`
