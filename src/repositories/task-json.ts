import { type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { PRIORITIES } from '../domain/priority.ts'
import { READ_ONLY_DESCRIPTIONS } from '../domain/task-change.ts'
import { type ConvertedField, LONG_FIELDS, SHOWN_FIELDS, type ShownField } from '../domain/task-fields.ts'
import { IS_READY } from './task-readiness.ts'

/**
 * A task as the API returns it, as JSON text made in PostgreSQL from the columns of `tasks`: as fast as `json_agg`, and
 * nothing has to be parsed or built in Node. It must equal `toTask`, which builds the same from a row.
 */
export function taskJson(form: TaskForm): SQL {
  const { opening, ending } = taskJsonParts(form)
  return sql`${opening} || ${ending}`
}

interface TaskForm {
  isSummary: boolean
  /** What does not follow from the row alone; by default read with it. */
  facts?: TaskFacts
}

/** As SQL text. */
interface TaskFacts {
  isReady: string
  isClaimed: string
}

/** The same in two parts, so that the long texts of a task are read only if there is room for them in a page. */
export function taskJsonParts({ isSummary, facts = FACTS }: TaskForm) {
  const brief = { ...BRIEF, isReady: `${facts.isReady}::text`, claim: claimJson(facts) }
  const [members, long] = isSummary
    ? [brief, '']
    : [{ ...brief, ...OTHERS }, `',' || ${membersOf({ description, notes })} || `]
  return {
    opening: sql.raw(asOneLiteral(`'{' || ${membersOf(members)}`)),
    ending: sql.raw(asOneLiteral(`${long}'}'`)),
  }
}

const FACTS: TaskFacts = { isReady: IS_READY, isClaimed: '(claim_expires_at > clock_timestamp()) is true' }

/** Columns with the facts, for a statement that returns a task with its key: the clock goes on between two readings. */
export const factColumns = sql.raw(`${FACTS.isReady} as is_ready, ${FACTS.isClaimed} as is_claimed`)
export const SELECTED_FACTS: TaskFacts = { isReady: 'is_ready', isClaimed: 'is_claimed' }

/** What the JSON text of a row follows from: as long as this is the same, so is the text. */
export const taskKey = ({ isReady, isClaimed }: TaskFacts = FACTS): SQL =>
  sql.raw(
    `id::text || xmin::text || case when ${isReady} then 'r' else '' end || case when ${isClaimed} then 'c' else '' end`,
  )

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
const numberOf = (kind: string) =>
  orNull(`case when codehost_kind = '${kind}' then codehost_number end::text`)

interface JsonColumn {
  name: string
  sqlType: string
  /** Whether its texts need no escape. */
  isEnum: boolean
}

/** The value of a column as JSON text; null stays null. */
export function columnJson({ name, sqlType, isEnum }: JsonColumn): string {
  if (sqlType === 'uuid' || isEnum) return quoted(name)
  if (sqlType === 'text') return `to_json(${name})::text`
  if (sqlType.startsWith('timestamp')) return quoted(utc(name))
  // Most arrays are empty.
  if (sqlType.endsWith('[]'))
    return `case when ${name} = '{}' then '[]' else array_to_json(${name})::text end`
  return `${name}::text`
}

function shownJson(field: ShownField): string {
  const column = tasks[field]
  const json = columnJson({
    name: column.name,
    sqlType: column.getSQLType(),
    isEnum: column.enumValues !== undefined,
  })
  return column.notNull ? json : orNull(json)
}

/** Cast: it has a member for each field. */
function shownMembers<Name extends ShownField>(fields: Name[]): Record<Name, string> {
  return Object.fromEntries(fields.map((field) => [field, shownJson(field)])) as Record<Name, string>
}

/** What `toTask` converts, too. */
const CONVERTED: Record<Exclude<ConvertedField, 'isReady' | 'claim'>, string> = {
  descriptionReadOnly: `case source ${Object.entries(READ_ONLY_DESCRIPTIONS)
    .map(([source, isReadOnly]) => `when '${source}' then '${isReadOnly}'`)
    .join(' ')} end`,
  priority: quoted(
    `case priority ${PRIORITIES.map((name, index) => `when ${index + 1} then '${name}'`).join(' ')} end`,
  ),
  codehostIssueNumber: numberOf('issue'),
  codehostPrNumber: numberOf('pull_request'),
  closedReason: orNull(quoted(`case when merged_into is null then closed_reason else 'duplicate' end`)),
  reports: 'report_count + 1',
  triaged: `(triaged or status = 'done')::text`,
  snoozedUntil: orNull(quoted(utc('snoozed_until'))),
  author: `case when author_name is null then 'null' else '{"name":' || to_json(author_name) || ',"url":' || ${orNull('to_json(author_url)::text')} || '}' end`,
  createdBy: `'{"type":"' || created_by_type || '","id":' || ${orNull(quoted('created_by_id'))} || ',"name":' || to_json(created_by_name) || '}'`,
  createdAt: quoted(utc('created_at')),
  openedAt: quoted(utc('opened_at')),
  updatedAt: quoted(utc('updated_at')),
  completedAt: orNull(quoted(utc('completed_at'))),
}

const claimJson = ({ isClaimed }: TaskFacts) =>
  `case when claim_expires_at is null then 'null' when ${isClaimed} then '{"by":{"type":"' || claimed_by_type || '","id":' || ${orNull(quoted('claimed_by_id'))} || ',"name":' || to_json(claimed_by_name) || '},"number":' || claim_number || ',"expiresAt":' || ${quoted(utc('claim_expires_at'))} || '}' else 'null' end`

const LONG: readonly string[] = LONG_FIELDS
const BRIEF = { ...shownMembers(SHOWN_FIELDS.filter((field) => !LONG.includes(field))), ...CONVERTED }
const { description, notes, ...OTHERS } = shownMembers(LONG_FIELDS)
