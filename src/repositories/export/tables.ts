import type { PgTable } from '../../db/drizzle.ts'
import { activity } from '../../db/tables/activity.ts'
import { codehostConnections, codehostLabels, purgedItems } from '../../db/tables/codehost.ts'
import { comments } from '../../db/tables/comments.ts'
import { webhookRouting } from '../../db/tables/feedback.ts'
import { users } from '../../db/tables/people.ts'
import { listDeletions, lists, projectDeletions, projects } from '../../db/tables/projects.ts'
import { rules, ruleVersions } from '../../db/tables/rules.ts'
import { sources } from '../../db/tables/sources.ts'
import { tasks } from '../../db/tables/tasks.ts'
import { webhooks } from '../../db/tables/webhooks.ts'
import { PRIORITIES } from '../../domain/priority.ts'

/** A table of which each row is a line of an export. */
export interface ExportedTable {
  /** The member `kind` of its lines. */
  kind: string
  table: PgTable
  /** The columns that sort its lines. */
  order: string[]
  /** Members that aren't exported, each with the reason. */
  omitted?: Record<string, string>
  /** What an import writes for those that the table requires, as SQL. */
  imported?: Record<string, string>
  /** Members that are exported as another type: as SQL for the JSON, and from its text to the column. */
  converted?: Record<string, { values: readonly string[]; toJson: string; fromText: string }>
}

const COUNTED = 'counted by an import'
const SECRET = 'a secret'
const STATE = 'the state of the instance that sends'
const OFF = 'off after an import, until it has its secret'
/** A source without a secret, until one is rotated in. */
const NO_SECRET = `''`

/** In the order of the lines: a row comes after those that it refers to. */
export const EXPORTED_TABLES: readonly ExportedTable[] = [
  { kind: 'project', table: projects, order: ['id'] },
  { kind: 'projectDeletion', table: projectDeletions, order: ['project_id'] },
  { kind: 'list', table: lists, order: ['id'], omitted: { openCount: COUNTED } },
  { kind: 'listDeletion', table: listDeletions, order: ['list_id'] },
  { kind: 'user', table: users, order: ['id'], omitted: { lastSeenAt: 'when the instance was used' } },
  {
    kind: 'task',
    table: tasks,
    order: ['id'],
    omitted: {
      commentCount: COUNTED,
      reportCount: COUNTED,
      writeBack: 'what is still to be written to the code host is written by the instance that has its token',
    },
    converted: {
      priority: {
        values: PRIORITIES,
        toJson: `(array[${PRIORITIES.map((name) => `'"${name}"'`).join(', ')}])[priority]`,
        fromText: `array_position(array[${PRIORITIES.map((name) => `'${name}'`).join(', ')}], "priority")`,
      },
    },
  },
  { kind: 'comment', table: comments, order: ['id'] },
  { kind: 'rule', table: rules, order: ['id'] },
  { kind: 'ruleVersion', table: ruleVersions, order: ['rule_id', 'version'] },
  { kind: 'routingRule', table: webhookRouting, order: ['id'] },
  {
    kind: 'activity',
    table: activity,
    order: ['sequence', 'id'],
    omitted: {
      transaction: 'belongs to the database that wrote it',
      sequence: 'the order of the lines; an import assigns new numbers',
    },
  },
  {
    kind: 'purgedItem',
    table: purgedItems,
    order: ['project_id', 'codehost_repository_id', 'codehost_number'],
  },
  {
    kind: 'source',
    table: sources,
    order: ['id'],
    omitted: {
      secret: SECRET,
      previousSecrets: SECRET,
      isActive: OFF,
      disabledReason: OFF,
      slowDeliveries: STATE,
    },
    imported: { secret: NO_SECRET, isActive: 'false' },
  },
  {
    kind: 'connection',
    table: codehostConnections,
    order: ['id'],
    omitted: {
      token: SECRET,
      app: SECRET,
      webhookSecret: SECRET,
      previousWebhookSecrets: SECRET,
      schedule: OFF,
      nextRunAt: OFF,
      writeBack: OFF,
    },
    imported: { schedule: `'off'`, writeBack: `'off'` },
  },
  {
    kind: 'webhook',
    table: webhooks,
    order: ['id'],
    omitted: {
      secret: SECRET,
      previousSecrets: SECRET,
      isActive: OFF,
      disabledReason: OFF,
      position: 'positions belong to an epoch',
      pauses: 'positions belong to an epoch',
      failures: STATE,
      nextAttemptAt: STATE,
      scheduledAttemptAt: STATE,
      lease: STATE,
      leaseUntil: STATE,
    },
    imported: { isActive: 'false', disabledReason: `'imported'`, position: '0' },
  },
  { kind: 'label', table: codehostLabels, order: ['project_id', 'name collate "C"'] },
]

const ACCESS = 'keys and sessions belong to an instance'
const PEOPLE = 'people are invited to each instance again'
const RECEIVED = 'a delivery belongs to the instance that received it'
const NOTIFIED = 'people are notified of what happens on an instance'
const RUNS = 'runs and deliveries belong to the instance that made them'

/** Tables that follow from others: an import empties them with those. */
export const FOLLOWING_TABLES = [
  'task_texts',
  'task_text_changes',
  'task_count_changes',
  'task_names',
  'overview_progress',
  'counted_tasks',
  'counted_task_changes',
  'opened_weeks',
  'closed_weeks',
  'feedback_weeks',
  'report_weeks',
  'untriaged_counts',
]

/** Tables that aren't exported, each with the reason. */
export const OMITTED_TABLES: Record<string, string> = {
  api_keys: ACCESS,
  api_key_secrets: ACCESS,
  sessions: ACCESS,
  saved_filters: ACCESS,
  passwords: PEOPLE,
  passkeys: PEOPLE,
  invites: PEOPLE,
  sign_in_attempts: PEOPLE,
  identity_providers: PEOPLE,
  identities: PEOPLE,
  webhook_secrets: SECRET,
  idempotency_keys: 'stored for a day',
  deliveries: RECEIVED,
  feedback_unreadable: RECEIVED,
  source_backlog: RECEIVED,
  source_items: RECEIVED,
  webhook_deliveries: RUNS,
  notifications: NOTIFIED,
  notification_progress: NOTIFIED,
  task_followers: NOTIFIED,
  task_mentions: NOTIFIED,
  leases: RUNS,
  pipes: RUNS,
  pipe_hours: RUNS,
  pipe_pauses: RUNS,
  sync_runs: RUNS,
  sync_items: RUNS,
  codehost_writes: RUNS,
  codehost_write_limits: RUNS,
  changes: 'positions belong to an epoch',
  change_feed: 'positions belong to an epoch',
  ...Object.fromEntries(FOLLOWING_TABLES.map((name) => [name, 'follows from other tables'])),
}
