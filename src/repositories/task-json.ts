import { type SQL, sql } from '../db/drizzle.ts'
import { PRIORITIES } from '../domain/priority.ts'
import { READ_ONLY_DESCRIPTIONS } from '../domain/task-change.ts'
import { IS_READY } from './task-readiness.ts'
import type { TaskRow } from './tasks.ts'

/**
 * A task as the API returns it, as JSON text made in PostgreSQL from the columns of `tasks`: as fast as `json_agg`, and
 * nothing has to be parsed or built in Node. It must equal `toTask`, which builds the same from a row.
 */
export function taskJson({ isSummary }: { isSummary: boolean }): SQL {
  const { opening, ending } = taskJsonParts({ isSummary })
  return sql`${opening} || ${ending}`
}

/** The same in two parts, so that the long texts of a task are read only if there is room for them in a page. */
export function taskJsonParts({ isSummary }: { isSummary: boolean }) {
  return isSummary
    ? { opening: sql.raw(asOneLiteral(`'{' || ${membersOf(BRIEF)}`)), ending: sql.raw(`'}'`) }
    : {
        opening: sql.raw(asOneLiteral(`'{' || ${membersOf(SHORT)}`)),
        ending: sql.raw(asOneLiteral(`',' || ${membersOf({ description, notes })} || '}'`)),
      }
}

/** The bytes of both parts, of rows that have the first one as `opening`; what is escaped in long texts counts once. */
export const jsonBytes = ({ isSummary }: { isSummary: boolean }) =>
  isSummary
    ? sql.raw('octet_length(opening)')
    : sql.raw(
        'octet_length(opening) + coalesce(octet_length(description), 0) + coalesce(octet_length(notes), 0)',
      )

const membersOf = (members: Record<string, string>) =>
  Object.entries(members)
    .map(([name, value]) => `'"${name}":' || ${value}`)
    .join(` || ',' || `)

/** Neighbouring literals become one: PostgreSQL would concatenate them for each row, a fifth of a page's time. */
const asOneLiteral = (expression: string) => expression.replaceAll(`' || '`, '')

/** ISO 8601 in UTC with milliseconds. The columns have no microseconds, so one more makes PostgreSQL write all digits. */
export const utc = (column: string) =>
  `left(replace((${column} at time zone 'UTC' + interval '1 microsecond')::text, ' ', 'T'), 23) || 'Z'`

const quoted = (value: string) => `'"' || ${value} || '"'`
const orNull = (value: string) => `coalesce(${value}, 'null')`
const text = (column: string) => orNull(`to_json(${column})::text`)
const names = (column: string) =>
  `case when ${column} = '{}' then '[]' else array_to_json(${column})::text end`
const numberOf = (kind: string) =>
  orNull(`case when codehost_kind = '${kind}' then codehost_number end::text`)

const BRIEF = {
  id: quoted('id'),
  title: 'to_json(title)',
  descriptionReadOnly: `case source ${Object.entries(READ_ONLY_DESCRIPTIONS)
    .map(([source, isReadOnly]) => `when '${source}' then '${isReadOnly}'`)
    .join(' ')} end`,
  status: quoted('status'),
  priority: quoted(
    `case priority ${PRIORITIES.map((name, index) => `when ${index + 1} then '${name}'`).join(' ')} end`,
  ),
  source: quoted('source'),
  sourceId: orNull(quoted('source_id')),
  projectId: quoted('project_id'),
  listId: quoted('list_id'),
  externalId: text('external_id'),
  externalUrl: text('external_url'),
  labels: names('labels'),
  assignees: names('assignees'),
  codehostIssueNumber: numberOf('issue'),
  codehostPrNumber: numberOf('pull_request'),
  closedReason: orNull(quoted(`case when merged_into is null then closed_reason else 'duplicate' end`)),
  sourceState: quoted('source_state'),
  commentCount: 'comment_count',
  mergedInto: orNull(quoted('merged_into')),
  reports: 'report_count + 1',
  blockedBy: names('blocked_by'),
  isReady: `${IS_READY}::text`,
  writeBack: orNull('write_back::text'),
  claim: `case when claim_expires_at is null then 'null' when claim_expires_at > clock_timestamp() then '{"by":{"type":"' || claimed_by_type || '","id":' || ${orNull(quoted('claimed_by_id'))} || ',"name":' || to_json(claimed_by_name) || '},"number":' || claim_number || ',"expiresAt":' || ${quoted(utc('claim_expires_at'))} || '}' else 'null' end`,
  author: `case when author_name is null then 'null' else '{"name":' || to_json(author_name) || ',"url":' || ${text('author_url')} || '}' end`,
  isDraft: orNull('is_draft::text'),
  createdBy: `'{"type":"' || created_by_type || '","id":' || ${orNull(quoted('created_by_id'))} || ',"name":' || to_json(created_by_name) || '}'`,
  createdAt: quoted(utc('created_at')),
  openedAt: quoted(utc('opened_at')),
  updatedAt: quoted(utc('updated_at')),
  completedAt: orNull(quoted(utc('completed_at'))),
  version: 'version',
}
const LONG = { description: text('description'), notes: text('notes'), metadata: 'metadata' }

/** Columns that the API doesn't show under their own name. */
type Unnamed =
  | 'codehostRepositoryId'
  | 'codehostNumber'
  | 'codehostKind'
  | 'codehostState'
  | 'authorName'
  | 'authorUrl'
  | 'hostUpdatedAt'
  | 'statusBeforeMerge'
  | 'reportCount'
  | 'noteKey'
  | 'claimNumber'
  | 'claimExpiresAt'
  | 'claimedByType'
  | 'claimedById'
  | 'claimedByName'
  | 'createdByType'
  | 'createdById'
  | 'createdByName'
  | 'deletedAt'
const { description, notes, ...SHORT } = { ...BRIEF, ...LONG } satisfies Record<
  Exclude<keyof TaskRow, Unnamed>,
  string
>
